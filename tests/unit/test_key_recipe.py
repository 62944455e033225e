"""The declarations that docs/context.md shows are ones that a writer reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from chronofact.contracts.fact_keys import KeyDeclaration, KeyDeclarations
from chronofact.domain.events import Cardinality, Succession

PAGE: Final = Path(__file__).parents[2] / "docs" / "context.md"


def test_the_recipe_declares_what_it_says(tmp_path: Path) -> None:
    (recipe,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "fact_keys.yaml"
    path.write_text(recipe, encoding="utf-8")
    declared, shipped = KeyDeclarations.load(path), KeyDeclarations.load()
    assert declared.of("package_manager") == KeyDeclaration(Cardinality.ONE, Succession.AUTOMATIC, is_declared=True)
    assert declared.of("skills/python") == KeyDeclaration(Cardinality.MANY, Succession.EXPLICIT, is_declared=True)
    assert shipped.of("package_manager") == KeyDeclaration()
    assert declared.of("likes") == shipped.of("likes")
