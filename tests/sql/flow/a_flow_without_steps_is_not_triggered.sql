-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select pawl.create_flow('empty.flow') as c \gset
select throws_like($$select pawl.trigger('empty.flow', '1')$$, '%has no steps%', 'refused');
select throws_like($$select pawl.trigger_many('empty.flow', array['1']::json[])$$, '%has no steps%', 'nor many');
select pawl.create_flow('out.flow') as c \gset
select pawl.add_step('out.flow', 'kid', '{}', '{"workflow": "empty.flow"}') as c \gset
select run_id as r from pawl.trigger('out.flow', '1') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"kid": {}}', 'as a child it ends at once');
select pawl.create_flow('other.flow') as c \gset
select is(pawl.delete_flow('empty.flow'), 'refused', 'it has run');
select is(pawl.delete_flow('other.flow'), 'ok', 'it can be deleted, because it never ran');
select * from finish();
