"""What a unit file of systemd says."""

from __future__ import annotations

from pathlib import Path


class Unit:
    """The settings of a unit: each with all its values, in order."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._values: dict[tuple[str, str], list[str]] = {}
        section = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line and not line.startswith(("#", ";")):
                name, _, value = line.partition("=")
                self._values.setdefault((section, name), []).append(value)

    def all(self, name: str, section: str = "Service") -> list[str]:
        """Every value of a setting, an empty list where it is not set."""
        return self._values.get((section, name), [])

    def words(self, name: str) -> list[str]:
        """The words of all its values."""
        return [word for value in self.all(name) for word in value.split()]

    def one(self, name: str, section: str = "Service") -> str:
        """The value of a setting that stands once."""
        (value,) = self.all(name, section)
        return value

    def is_on(self, name: str) -> bool:
        """Whether a setting says yes."""
        return self.all(name) == ["yes"]

    def environment(self) -> dict[str, str]:
        """The variables that the unit sets."""
        return dict(pair.split("=", 1) for pair in self.words("Environment"))
