# A backup script as people write them.
set -e
umask 077
mkdir -p backup/old
printf 'a\nb\n' > list
while read -r name; do
    echo "content of $name" > "$name"
    cp "$name" backup/
done < list
(cd backup && mv a old/a.1 && ln -s old/a.1 latest)
cat a b | sort -r > both
tr a-z A-Z < both >> backup/both &
wait
ln b hard
echo more >> hard
chmod 640 b
rm a
cp -p b kept
mv -T backup saved
tar cf saved.tar --mtime=@0 --sort=name saved
echo done
sync
