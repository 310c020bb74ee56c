-- SPDX-License-Identifier: Apache-2.0
-- template0 accepts no connections, so none can block its copy. UTF8 is an encoding that the engine supports.
create database pawl_bench_scratch template template0 encoding 'UTF8' locale_provider libc locale 'C'
