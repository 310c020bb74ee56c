-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select pawl.create_flow('k.flow') as c \gset
select pawl.add_step('k.flow', 'a', '{}', '{"condition": {"/run/go": true}, "unmet": "skip_all"}') as c \gset
select is((select string_agg(created::text, ' ' order by item) from pawl.trigger_many('k.flow', array['1', '1']::json[], array['k', 'k'], key_while_active => true)), 'true true', 'the first frees the key for the second');
select is((select string_agg(created::text, ' ' order by item) from pawl.trigger_many('k.flow', array['1', '1']::json[], array['k', 'k'])), 'true false', 'unless the key is held for longer');
select * from finish();
