// Keeps a counter in a JSON file, which it replaces by rename; file and directory are synced.
const fs = require("node:fs");

for (let number = 1; number <= 3; number++) {
  const file = fs.openSync("state.json.tmp", "w");
  fs.writeSync(file, JSON.stringify({ count: number }));
  fs.fsyncSync(file);
  fs.closeSync(file);
  fs.renameSync("state.json.tmp", "state.json");
  const directory = fs.openSync(".", "r");
  fs.fsyncSync(directory);
  fs.closeSync(directory);
  fs.writeSync(1, `saved ${number}\n`);
}
