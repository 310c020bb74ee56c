-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session(handles => '{shop.*}') as s \gset
select pawl.create_workflow('shop.pay', max_attempts => 3, base => '2 s', step_timeout => '30 s', description => 'takes money'), pawl.create_workflow('shop.ship', priority => 7), pawl.create_workflow('zoo') \gset
select count(*) as n from pawl.claim(:s) \gset
select is((select concat_ws(' ', workflow, runtime, priority, max_attempts, base, factor, cap, jitter, run_timeout, step_timeout, strict_order, description, created_at = pawl.now(), paused, workers) from pawl.list_workflows('shop.pay')),
    'shop.pay 100 3 00:00:02 2 00:10:00 0.2 00:00:30 f takes money t f 1', 'one, with all that is known of it');
select is((select string_agg(workflow || ' ' || workers, ', ') from pawl.list_workflows()), 'shop.pay 1, shop.ship 1, zoo 0', 'all, by name');
select is((select string_agg(workflow, ' ') from pawl.list_workflows('shop.*')), 'shop.pay shop.ship', 'those that a pattern names');
select is((select string_agg(workflow, ' ') from pawl.list_workflows(max_rows => 2)), 'shop.pay shop.ship', 'a page');
select is((select string_agg(workflow, ' ') from pawl.list_workflows(cursor => 'shop.ship')), 'zoo', 'the next');
select is(pawl.pause_workflow('zoo'), 'ok', 'paused');
select is((select string_agg(workflow, ' ') from pawl.list_workflows() where paused), 'zoo', 'is shown');
select * from finish();
