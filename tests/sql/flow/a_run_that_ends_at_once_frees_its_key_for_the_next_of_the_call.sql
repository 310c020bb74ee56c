-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select pawl.create_flow('k.flow') as c \gset
select pawl.add_step('k.flow', 'a', '{}', '{"condition": {"/run/go": true}, "unmet": "skip_all"}') as c \gset
select is((select string_agg(created::text, ' ' order by item) from pawl.trigger_many('k.flow', array['1', '2', '3']::json[], array['k', 'k', 'k'], key_while_active => true)), 'true true true', 'three runs, one after the other');
select is((select count(*) from pawl_data.run where status = 's'), 3::bigint, 'each has ended with all steps skipped');
select is((select count(*) from pawl_data.key), 0::bigint, 'and has freed the key');
select throws_ok($$select * from pawl.trigger_many('k.flow', array['1', '{"go": true}', '3']::json[], array['k', 'k', 'k'], key_while_active => true)$$, 'PW004', null, 'one that goes on keeps it');
select * from finish();
