-- SPDX-License-Identifier: Apache-2.0
select bench.engine_trigger(100);
select bench.engine_claim(100);
select bench.engine_step(1, false);
select bench.engine_step(2, false);
select bench.engine_step(3, true);
