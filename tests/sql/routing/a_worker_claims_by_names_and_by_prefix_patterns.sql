-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.run('billing.invoice.v1') as a \gset
select t.run('billing.refund') as b \gset
select t.run('billing') as c \gset
select t.run('billingx.y') as d \gset
select t.run('mail.send') as e \gset
create function pg_temp.gets(handles text[]) returns text language plpgsql as $$
declare
    v_session bigint := t.session(handles);
    v_names text;
begin
    select string_agg(c.workflow, ' ' order by c.workflow) into v_names from pawl.claim(v_session, 100) c;
    perform pawl.leave(v_session);
    return coalesce(v_names, '');
end $$;
select is(pg_temp.gets('{mail.send}'), 'mail.send', 'a name');
select is(pg_temp.gets('{mail}'), '', 'a part of a name is none');
select is(pg_temp.gets('{billing.*}'), 'billing.invoice.v1 billing.refund', 'a prefix pattern');
select is(pg_temp.gets('{billing*}'), 'billing billing.invoice.v1 billing.refund billingx.y', 'a shorter one');
select is(pg_temp.gets('{mail.send,billing.re*,billing.refund}'), 'billing.refund mail.send', 'several, that overlap');
select is(pg_temp.gets('{*}'), 'billing billing.invoice.v1 billing.refund billingx.y mail.send', 'everything');
select is(pg_temp.gets('{bill_ng.*}'), '', 'an underscore is an underscore');

select * from finish();
