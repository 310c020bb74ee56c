# SPDX-License-Identifier: Apache-2.0
"""The parts of the build that pyproject.toml cannot say: the module of cffi, and the tag of the wheel."""

import pathlib
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent


class Wheel(bdist_wheel):
    """A wheel for CPython 3.11 and later: the module uses the limited API."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "cp311", "abi3", platform


class Build(build_py):
    """Adds the engine, so that pawl.install() needs no other file: PAWL_SQL is pawl.sql of a build."""

    def run(self):
        import os

        super().run()
        engine = os.environ.get("PAWL_SQL")
        clock = HERE.parent.parent / "sql" / "test" / "clock.sql"
        target = pathlib.Path(self.build_lib, "pawl", "sql")
        if engine:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(engine, target / "pawl.sql")
            shutil.copyfile(os.environ.get("PAWL_CLOCK", clock), target / "clock.sql")


setup(cffi_modules=["build_ffi.py:make"], cmdclass={"bdist_wheel": Wheel, "build_py": Build})
