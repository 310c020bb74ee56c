-- SPDX-License-Identifier: Apache-2.0
select bench.bare_trigger(100);
select bench.bare_claim(100);
select bench.bare_step('step1');
select bench.bare_step('step2');
select bench.bare_step('step3');
select bench.bare_finish();
