"""The build hook: wheels and editable installs get the native kernels compiled.

Libraries loaded with ctypes know nothing of Python's own interface, so a wheel fits every Python 3 of
its platform.
"""

from __future__ import annotations

import importlib.util
import platform
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _kernels() -> Any:
    """`build_kernels.py`, from its file: a build hook's folder is not where modules are looked for."""
    spec = importlib.util.spec_from_file_location(
        "build_kernels", Path(__file__).with_name("build_kernels.py")
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError("build_kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class KernelsHook(BuildHookInterface):
    """Builds the kernels into the package before it is packed."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A compiler, where the system has none."""
        builds = self.target_name == "wheel"
        return ["ziglang>=0.13"] if builds and _kernels().compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        for library in _kernels().build():
            inside = library.relative_to(Path(self.root) / "src").as_posix()
            build_data["force_include"][str(library)] = inside
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """The platform a wheel is for, as its file name says it."""
    # A Python for two kinds of Mac builds for the one it runs on.
    name = sysconfig.get_platform().replace("universal2", platform.machine())
    return name.replace("-", "_").replace(".", "_")
