-- SPDX-License-Identifier: Apache-2.0
select plan(40);
select t.session() as s \gset
select pawl.create_workflow('a.flow'), pawl.create_workflow('b.flow') \gset
create function tagged(tag text, workflow text default null, tenant text default null, status text default null)
returns text language sql as $$
    select coalesce(string_agg(l.run_id::text, ' ' order by l.run_id desc nulls last), 'none')
    from pawl.list_runs(workflow, status, tenant, only_tag => tag) l
$$;

-- What a trigger takes.
select throws_ok('select pawl.trigger(''a.flow'', tags => array[''1'',''2'',''3'',''4'',''5'',''6'',''7'',''8'',''9''])', 'PW003', 'a run has at most 8 tags, in an array of one dimension', 'nine tags');
select throws_ok('select pawl.trigger(''a.flow'', tags => array[array[''1''], array[''2'']])', 'PW003', null, 'an array of arrays');
select throws_ok('select pawl.trigger(''a.flow'', tags => array[''''])', 'PW003', 'a tag must have 1 to 100 bytes', 'an empty tag');
select throws_ok('select pawl.trigger(''a.flow'', tags => array[''x'', null])', 'PW003', null, 'no tag');
select throws_ok('select pawl.trigger(''a.flow'', tags => array[repeat(''ä'', 51)])', 'PW003', null, '102 bytes');
select throws_ok('select pawl.trigger_many(''a.flow'', array[''{}'', ''{}'']::json[], tags => array[''''])', 'PW003', null, 'nor do many runs take an empty one');
select is((select count(*) from pawl_data.tag), 0::bigint, 'nothing is left of these');
select is((select created from pawl.trigger('a.flow', tags => array[repeat('ä', 50), '2', '3', '4', '5', '6', '7', '8'])), true, 'eight tags of up to 100 bytes');
select run_id as none from pawl.trigger('a.flow', tags => '{}') \gset
select is((select tags from pawl.get_run(:'none')), null, 'an empty array is no tag');
select run_id as first from pawl.trigger('a.flow', key => 'k', tags => array['order=42', 'region=eu', 'region=eu']) \gset
select is((select tags from pawl.get_run(:'first')), array['order=42', 'region=eu'], 'a run shows its tags, each once');
select is((select created from pawl.trigger('a.flow', key => 'k', tags => array['late'])), false, 'a key stands for the run');
select is(tagged('late'), 'none', 'and the call that finds it adds no tag');
select pawl.make_id() as id \gset
select is((select array_agg(created order by created) from (select created from pawl.trigger('a.flow', id => :'id', tags => array['once']) union all
    select created from pawl.trigger('a.flow', id => :'id', tags => array['twice'])) c), '{f,t}', 'an id is sent twice');
select is((select tags from pawl.get_run(:'id')), array['once'], 'and has the tags of the call that made the run');

-- Runs of every kind.
select pawl.alter_workflow('b.flow', '{"run_timeout": "1 h"}') \gset
select run_id as limited from pawl.trigger('b.flow', tags => array['order=42']) \gset
select run_id as large from pawl.trigger('a.flow', to_json(repeat('x', 3000)), delay => '1 h', tags => array['order=42']) \gset
select is(tagged('order=42'), (select string_agg(r::text, ' ' order by r desc) from unnest(array[:'first', :'limited', :'large']::uuid[]) r), 'runs with a limit, a large input and a delay');
select is(tagged('order=42', 'b.*'), :'limited', 'of a workflow');
select is(tagged('order=42', status => 'PAUSED'), :'large', 'in a state');
select is(tagged('order=4'), 'none', 'a beginning of a tag is no tag');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_tag => 'order=42', only_key => 'k')), :'first', 'with a key');
select is((select string_agg(what || ' ' || run_id, ',' order by run_id) from pawl.find('region=eu')), 'tag ' || :'first', 'find finds it, too');
select array_agg(run_id) as many from pawl.trigger_many('a.flow', array['1', '2', '3']::json[], keys => array['x', 'y', 'x2'], tags => array['batch=7', 'eu']) \gset
select is(tagged('batch=7'), (select string_agg(r::text, ' ' order by r desc) from unnest(:'many'::uuid[]) r), 'runs of one call');
select is((select count(*) from pawl.trigger_many('a.flow', array['1', '9']::json[], keys => array['x', 'z'], tags => array['batch=8'])), 2::bigint, 'one of two runs is there already');
select is((select count(*) from pawl.list_runs(only_tag => 'batch=8')), 1::bigint, 'and only the new one is tagged');

-- Ended, forked, retried and purged ones.
select count(*) as n from pawl.claim(:s, 100) c, pawl.complete(:s, c.run_id, c.fence) where c.run_id = :'first' \gset
select is(tagged('region=eu', status => 'SUCCESS'), :'first', 'a run that has ended');
select run_id as forked from pawl.fork(:'first') \gset
select is((select tags from pawl.get_run(:'forked')), array['order=42', 'region=eu'], 'a fork has the tags of its source');
select is((select answer from pawl.purge(array[:'first']::uuid[])), 'ok', 'a purge');
select is(tagged('region=eu'), :'forked', 'takes them with the run');

-- Tenants.
select run_id as acme from pawl.trigger('a.flow', tenant => 'acme', tags => array['shared']) \gset
select run_id as victim from pawl.trigger('a.flow', tenant => 'victim', tags => array['shared']) \gset
select run_id as nobody from pawl.trigger('a.flow', tags => array['shared']) \gset
select is(tagged('shared'), (select string_agg(r::text, ' ' order by r desc) from unnest(array[:'acme', :'victim', :'nobody']::uuid[]) r), 'of all tenants');
select is(tagged('shared', tenant => 'acme'), :'acme', 'of one');
select is(tagged('shared', tenant => ''), :'nobody', 'of the empty one');
select is((select string_agg(run_id::text, ' ') from pawl.find('shared', 'victim')), :'victim', 'find keeps to the tenant');

-- Pages, and what is examined.
select count(*) as n from generate_series(1, 120) g, lateral (select from pawl.trigger('a.flow', g::text::json, tags => array['many'])) t \gset
create function page(cursor uuid, n int) returns table (run_id uuid, next_cursor uuid) language sql as
    $$ select l.run_id, l.next_cursor from pawl.list_runs(only_tag => 'many', cursor => page.cursor, max_rows => n) l $$;
create function pages() returns setof uuid language plpgsql as $$
declare v_cursor uuid; v_ids uuid[];
begin
    loop
        select array_agg(p.run_id order by p.run_id desc), (array_agg(p.next_cursor order by p.run_id))[1] into v_ids, v_cursor from page(v_cursor, 50) p;
        exit when v_ids is null;
        return query select unnest(v_ids);
    end loop;
end $$;
select count(*) as runs, count(distinct p) as different from pages() p \gset
select is(:runs, 120, 'pages have all runs');
select is(:different, 120, 'and each once');
insert into pawl_data.tag (run_id, tenant, tag)
select pawl._id_make(pawl.now() - interval '1 h' + g * interval '0.1 ms'), '', 'gone' from generate_series(1, 10050) g;
select is((select array_agg(run_id is null and next_cursor is not null) from pawl.list_runs(only_tag => 'gone')), '{t}', 'a search that examined 10,000 stops with a cursor');
select is((select count(*) from pawl.list_runs(only_tag => 'gone', cursor => (select next_cursor from pawl.list_runs(only_tag => 'gone')))), 0::bigint, 'and goes on from there');

-- Runs that outlive the partition of their day, and days that are emptied.
select run_id as old from pawl.trigger('a.flow', delay => '60 days', tags => array['old']) \gset
select run_id as brief from pawl.trigger('a.flow', tags => array['brief']) \gset
select count(*) as n from pawl.claim(:s, 1000) c, pawl.complete(:s, c.run_id, c.fence) where c.run_id = :'brief' \gset
select pawl.test_clock_advance('40 days') \gset
do $$ begin for i in 1..60 loop perform t.later('2 s', (select max(session_id) from pawl_data.worker)); end loop; end $$;
do $$ begin for i in 1..10 loop call pawl.tick(true); end loop; end $$;
select is((select string_agg(g.tag, ' ') from pawl_data.tag_kept g where g.run_id = :'old'), 'old', 'tags of a run that lives are kept');
select is(tagged('old'), :'old', 'and it is found');
select is((select tags from pawl.get_run(:'old')), array['old'], 'and shows them');
select is((select count(*) from pawl_data.tag where tag = 'brief'), 0::bigint, 'those of a run that is past its retention are gone');
select is((select count(*) from pawl_data.tag_kept where tag = 'brief'), 0::bigint, 'and are not kept');
select * from finish();
