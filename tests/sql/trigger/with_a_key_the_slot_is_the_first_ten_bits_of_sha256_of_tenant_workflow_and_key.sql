-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('billing.invoice.v1') \g /dev/null
create temp table trial as select v.*, sha256(convert_to(tn, 'UTF8') || '\x00'::bytea || 'billing.invoice.v1'::bytea || '\x00'::bytea || convert_to(k, 'UTF8')) as sum
from (values ('', 'order:42'), ('acme', 'order:42'), ('', 'ä☃'), ('ü', 'x')) v (tn, k);
select is((select count(*) from trial t, pawl.trigger('billing.invoice.v1', '{}', key => t.k, tenant => t.tn) r
    where pawl.slot_of(r.run_id) <> get_byte(t.sum, 0) * 4 + get_byte(t.sum, 1) / 64), 0::bigint, 'by the bytes of the sum');
-- printf '\0billing.invoice.v1\0order:42' | sha256sum begins with 0762.
select is((select pawl.slot_of(run_id) from pawl.trigger('billing.invoice.v1', '{}', key => 'order:42')), 29, 'by a sum made elsewhere');

select * from finish();
