-- SPDX-License-Identifier: Apache-2.0
-- From template0, which nobody is connected to, in an encoding that the engine takes.
create database pawl_bench_scratch template template0 encoding 'UTF8' locale_provider libc locale 'C'
