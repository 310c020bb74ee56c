-- SPDX-License-Identifier: Apache-2.0
comment on database pawl_bench_scratch is 'made by pawl bench'
