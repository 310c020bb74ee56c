# SPDX-License-Identifier: Apache-2.0
# The module that cffi makes from the public headers.
from typing import Any

ffi: Any
lib: Any
