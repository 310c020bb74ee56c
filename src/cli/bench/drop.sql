-- SPDX-License-Identifier: Apache-2.0
drop database if exists pawl_bench_scratch with (force)
