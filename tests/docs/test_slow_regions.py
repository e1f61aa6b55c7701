"""Tables of the documents that are made by killing very many processes, made anew."""

from __future__ import annotations

import shutil

import pytest

from docs_regions import GENERATORS, RECORDED_REGIONS, REGION, ROOT, SLOW_REGIONS, documents

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted(SLOW_REGIONS))
def test_a_table_says_what_its_processes_came_to(name: str) -> None:
    if name in RECORDED_REGIONS and shutil.which("strace") is None:
        pytest.skip("strace looks on")
    texts = [path.read_text(encoding="utf-8") for path in documents(ROOT)]
    regions = [region for text in texts for region in REGION.finditer(text)]
    assert [each["body"] for each in regions if each["name"] == name] == [GENERATORS[name]()]
