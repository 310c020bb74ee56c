-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set escape_string_warning to off;
set standard_conforming_strings to off;
select t.flow('test.two', '[["one"], ["two"]]') \g /dev/null
select run_id as r from pawl.trigger('test.two', '{"a": 1}') \gset
select is((select string_agg(input::text, ' ') from pawl.claim(t.session(), 2)), '{"run": {"a": 1}} {"run": {"a": 1}}', 'steps have their inputs');
select is(pawl._with_run('1', '{ }')::text, '{"run": 1 }', 'however an object without keys is written');
select * from finish();
