-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('a.flow') \g /dev/null
create function pg_temp.wide(n int) returns json language sql as $$ select ('{' || string_agg(format('"k%s":%s', i, i), ',') || '}')::json from generate_series(1, n) i $$;
select lives_ok($$select pawl.trigger('a.flow', pg_temp.wide(10000))$$, 'ten thousand');
select throws_ok($$select pawl.trigger('a.flow', pg_temp.wide(10001))$$, 'PW009', 'payload has 10001 keys, the limit is 10000', 'one more');
select lives_ok($$select pawl.trigger('a.flow', to_json(repeat('a:b "c":', 20000)))$$, 'colons in strings do not count');

select * from finish();
