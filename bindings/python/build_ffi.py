# SPDX-License-Identifier: Apache-2.0
"""Builds pawl/_ffi.abi3.so: cffi in API mode, limited API, with libpawl linked in.

The declarations are made from the public headers; none is written by hand. Two variables of the
environment say where libpawl is. Without them, pkg-config is asked for an installed libpawl:

    PAWL_INCLUDE    the directory that holds pawl/pawl.h
    PAWL_LIBS       arguments for the linker, such as "/path/libpawl.a -lpq -lpthread"
"""

from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import tempfile

from cffi import FFI

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent


def _pkg_config(*arguments: str) -> list[str]:
    command = ["pkg-config", *arguments, "libpawl"]
    return shlex.split(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _include() -> str:
    if "PAWL_INCLUDE" in os.environ:
        return os.environ["PAWL_INCLUDE"]
    if (TREE / "include" / "pawl" / "pawl.h").exists():
        return str(TREE / "include")
    return _pkg_config("--variable=includedir")[0]


def _libs() -> list[str]:
    if "PAWL_LIBS" in os.environ:
        return shlex.split(os.environ["PAWL_LIBS"])
    return _pkg_config("--static", "--libs")


def declarations(include: str) -> str:
    """Returns the declarations of all public headers, as cffi reads them.

    The preprocessor removes comments and macros. It is told that it is no GNU compiler, so that the
    headers leave out attributes, and it finds empty files for the headers of the C library.
    """
    source = "".join(f"#include <pawl/{path.name}>\n" for path in sorted(pathlib.Path(include, "pawl").glob("*.h")))
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdint.h"):
            pathlib.Path(empty, name).touch()
        command = [
            os.environ.get("CC", "cc").split()[0],
            "-E",
            "-P",
            "-nostdinc",
            "-U__GNUC__",
            "-I",
            empty,
            "-I",
            include,
            "-x",
            "c",
            "-",
        ]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def make() -> FFI:
    """Returns the builder that setuptools asks for (cffi_modules)."""
    include = _include()
    builder = FFI()
    builder.cdef(declarations(include))
    builder.set_source(
        "pawl._ffi",
        "#include <pawl/pawl.h>\n#include <pawl/test.h>\n",
        include_dirs=[include],
        # Another libpawl or libpq in the process must not meet this one.
        extra_link_args=[*_libs(), "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections"],
        extra_compile_args=["-O2"],
        py_limited_api=True,
    )
    return builder


if __name__ == "__main__":
    print(make().compile(tmpdir=str(HERE)))
