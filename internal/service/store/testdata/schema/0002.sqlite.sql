PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-23 21:24:28');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-23 21:24:28');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-23 21:24:28');
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE, -- in lower case
    password     TEXT NOT NULL,        -- argon2id, in its own encoding
    epoch        BIGINT NOT NULL,      -- sessions of an older one are over
    credits      BIGINT NOT NULL CHECK (credits >= 0),
    plan         TEXT NOT NULL,        -- the one subscribed to, else the last one granted, or empty
    confirmed_at BIGINT,               -- null: a mail to email has yet to arrive
    created_at   BIGINT NOT NULL
);
INSERT INTO accounts VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm','ann@example.com','$argon2id$v=19$m=19456,t=2,p=1$QbHfxZdNu9ClJ97avl4rrw$js0SfiYO5rGtSMjBs9kBL0ryvYaMqwoTdkGN7RfqE/0',1,87,'',1795469069063,1795469069063);
INSERT INTO accounts VALUES('acc_06h0mjyb8r3d6q2eh2nye03fnw','bob@example.com','$argon2id$v=19$m=19456,t=2,p=1$jwWc9I/TMRFiso1NHQmuWA$665K4Bt7+gxNOdtSBQWtDqSN94nVASCbrvx9Pvo1spk',1,150,'light',1795469069126,1795469069126);
CREATE TABLE mail_tokens (
    hash       TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'confirm')),
    expires_at BIGINT NOT NULL
);
INSERT INTO mail_tokens VALUES('aa','acc_06h0mjyb0s1pwyck8n2nnqbchm','reset',4102444800000);
CREATE TABLE api_keys (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,        -- the start of the key, to tell it by
    hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the key, in hex
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
INSERT INTO api_keys VALUES('key_06h0mjybfdqzw0vfzneykk13hg','acc_06h0mjyb8r3d6q2eh2nye03fnw','made by admin','bgr_2OTEER','54ddbbbf25237eac8c0bd1148cc18e4a9b1990597ca0d3d072474e6f80960aeb',1795469069179,NULL,1795469069229);
INSERT INTO api_keys VALUES('key_06h0mjybt520ka109nksjnq0dm','acc_06h0mjyb0s1pwyck8n2nnqbchm','fixture','bgr_AlzVb5','10d10707a7912f9fdfb99bf2bd0feb6e188dc9d16daf0cbf67e8cc10f29add85',1795469069265,1795469070496,NULL);
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    data       BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO sessions VALUES('0ce5832673f834cf6c4a9b3175a0618144d0e791eb272c8a41373358f57da045',X'257f030102ff800001020108446561646c696e6501ff8200010656616c75657301ff8400000010ff810501010454696d6501ff8200000027ff83040101176d61705b737472696e675d696e74657266616365207b7d01ff8400010c0110000057ff80010f010000000ee2be330e0c0ca87effff0102076163636f756e7406737472696e670c20001e6163635f303668306d6a7962307331707779636b386e326e6e716263686d0565706f636805696e7436340402000200',1798061070202);
CREATE TABLE ledger (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    kind       TEXT NOT NULL,
    amount     BIGINT NOT NULL,
    job_id     TEXT,
    note       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CHECK (kind = 'grant' AND amount > 0 AND job_id IS NULL
        OR kind = 'charge' AND amount < 0 AND job_id IS NOT NULL
        OR kind = 'refund' AND amount > 0 AND job_id IS NOT NULL
        OR kind = 'reversal' AND amount <= 0 AND job_id IS NULL)
);
INSERT INTO ledger VALUES('led_06h0mjyb10p63rfwt3th1rnwn4','acc_06h0mjyb0s1pwyck8n2nnqbchm','grant',100,NULL,'account made',1795469069064);
INSERT INTO ledger VALUES('led_06h0mjybc59vmjjz1xaejadrc0','acc_06h0mjyb8r3d6q2eh2nye03fnw','grant',150,NULL,'plan light',1795469069153);
INSERT INTO ledger VALUES('led_06h0mjyd4gwjp3kn61ake5ech4','acc_06h0mjyb0s1pwyck8n2nnqbchm','charge',-3,'job_06h0mjyd4gwjp3kn61ahq73r48','',1795469069604);
INSERT INTO ledger VALUES('led_06h0mjye94ftvwj977b214k04w','acc_06h0mjyb0s1pwyck8n2nnqbchm','charge',-4,'job_06h0mjye9023rszyjcj8cjqbw0','',1795469069897);
INSERT INTO ledger VALUES('led_06h0mjye94ftvwj977be3053jr','acc_06h0mjyb0s1pwyck8n2nnqbchm','charge',-3,'job_06h0mjye9023rszyjcjmebyk4r','',1795469069897);
INSERT INTO ledger VALUES('led_06h0mjye94ftvwj977bwz4z6j8','acc_06h0mjyb0s1pwyck8n2nnqbchm','refund',3,'job_06h0mjye9023rszyjcjmebyk4r','',1795469069897);
INSERT INTO ledger VALUES('led_06h0mjygghy3x23cmek1kbgwd4','acc_06h0mjyb0s1pwyck8n2nnqbchm','charge',-3,'job_06h0mjygghy3x23cmek082vj2m','',1795469070468);
INSERT INTO ledger VALUES('led_06h0mjygmhcz2e9z4jkd3rz3w4','acc_06h0mjyb0s1pwyck8n2nnqbchm','charge',-3,'job_06h0mjygmhcz2e9z4jk2vjnkf8','',1795469070500);
CREATE TABLE queues (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    vtime      BIGINT NOT NULL, -- credits' worth of work begun, not below its peers'
    queued     BIGINT NOT NULL CHECK (queued >= 0),
    running    BIGINT NOT NULL CHECK (running >= 0),
    events     BIGINT NOT NULL  -- the number of the last event
);
INSERT INTO queues VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',7,2,0,11);
CREATE TABLE batches (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id     TEXT, -- null: made in the dashboard
    created_at BIGINT NOT NULL
);
INSERT INTO batches VALUES('batch_06h0mjye9023rszyjchzejmh64','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm',1795469069896);
CREATE TABLE jobs (
    id            TEXT PRIMARY KEY, -- sortable by time
    account_id    TEXT NOT NULL REFERENCES accounts (id),
    key_id        TEXT, -- null: made in the dashboard
    batch_id      TEXT REFERENCES batches (id),
    request_id    TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('queued', 'processing', 'done', 'failed')),
    error         TEXT, -- a code, only when failed
    options       TEXT NOT NULL, -- JSON
    output_format TEXT NOT NULL,
    original_name TEXT NOT NULL,
    input_key     TEXT, -- null once removed; jobs on one upload share it
    input_size    BIGINT NOT NULL,
    input_sha     TEXT NOT NULL, -- SHA-256, in hex
    input_type    TEXT NOT NULL, -- media type by its content, empty if it cannot be read
    frame_count   BIGINT NOT NULL,
    width         BIGINT NOT NULL,
    height        BIGINT NOT NULL,
    duration_ms   BIGINT NOT NULL,
    cost          BIGINT NOT NULL, -- price in credits
    charged       BIGINT NOT NULL, -- what was taken: cost, or 0 where credits are unlimited
    attempt       BIGINT NOT NULL, -- claims so far: who knows another number has lost the job
    lost          BIGINT NOT NULL, -- claims whose lease ran out
    lease_until   BIGINT, -- only when processing
    preview_key   TEXT, -- null before there is one and once removed
    preview_size  BIGINT,
    preview_sha   TEXT,
    output_key    TEXT, -- null before done and once removed
    output_size   BIGINT,
    output_sha    TEXT,
    placement     TEXT, -- JSON: where the input is in the output, null before done
    created_at    BIGINT NOT NULL,
    started_at    BIGINT, -- of the last try
    ended_at      BIGINT
);
INSERT INTO jobs VALUES('job_06h0mjyd4gwjp3kn61ahq73r48','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm',NULL,'req_06h0mjyd44jp3g72r3bbd6mx64','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h0mjyd4ct319vv89zgekspzg',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,1,0,NULL,'jobs/job_06h0mjyd4gwjp3kn61ahq73r48/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h0mjyd4gwjp3kn61ahq73r48/out-1.gif',131,'4be756d6e8179deef5ee87a6851b136e61e42d46f872b861c74c0ff7b372942d','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795469069604,1795469069606,1795469069625);
INSERT INTO jobs VALUES('job_06h0mjye9023rszyjcj8cjqbw0','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm','batch_06h0mjye9023rszyjchzejmh64','req_06h0mjye8nrwkds5p7f3qxg88m','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation-speed.gif','inputs/06h0mjye8s92smtmh98cksssg8',133,'8558f2ecc7c4b74795ddd8c40a2e68d5c49f2407f14bd6e3508f70a60056ff8e','image/gif',4,2,2,3750,4,4,1,0,NULL,'jobs/job_06h0mjye9023rszyjcj8cjqbw0/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h0mjye9023rszyjcj8cjqbw0/out-1.gif',131,'82e1f194dc02a14a7683cb8886111897e47fc0381e52098630f19878a339727f','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795469069897,1795469069900,1795469069940);
INSERT INTO jobs VALUES('job_06h0mjye9023rszyjcjmebyk4r','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm','batch_06h0mjye9023rszyjchzejmh64','req_06h0mjye8nrwkds5p7f3qxg88m','failed','unreadable_file','{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','broken.gif','inputs/06h0mjye8xr3ef22yyc2v0k6qg',9,'2f9d23efc183016965f402b0ca2bfc1edb5830759a169288d8bc19dd99abe9c5','',0,0,0,0,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795469069897,NULL,1795469069897);
INSERT INTO jobs VALUES('job_06h0mjygghy3x23cmek082vj2m','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm',NULL,'req_06h0mjyge8wqes44h2grh3awvw','queued',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":3,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h0mjygf12pzvsggtz29r0688',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795469070468,NULL,NULL);
INSERT INTO jobs VALUES('job_06h0mjygmhcz2e9z4jk2vjnkf8','acc_06h0mjyb0s1pwyck8n2nnqbchm','key_06h0mjybt520ka109nksjnq0dm',NULL,'req_06h0mjygkw3pdx13n94m2jmms0','queued',NULL,'{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h0mjygm4v4w27zt5gwmk1vkc',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795469070500,NULL,NULL);
CREATE TABLE job_events (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    seq        BIGINT NOT NULL,
    job_id     TEXT NOT NULL REFERENCES jobs (id),
    state      TEXT NOT NULL,
    error      TEXT,
    preview    BIGINT NOT NULL, -- 1 if there was one
    at         BIGINT NOT NULL,
    PRIMARY KEY (account_id, seq)
);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',1,'job_06h0mjyd4gwjp3kn61ahq73r48','queued',NULL,0,1795469069605);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',2,'job_06h0mjyd4gwjp3kn61ahq73r48','processing',NULL,0,1795469069606);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',3,'job_06h0mjyd4gwjp3kn61ahq73r48','processing',NULL,1,1795469069622);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',4,'job_06h0mjyd4gwjp3kn61ahq73r48','done',NULL,1,1795469069626);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',5,'job_06h0mjye9023rszyjcj8cjqbw0','queued',NULL,0,1795469069897);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',6,'job_06h0mjye9023rszyjcjmebyk4r','failed','unreadable_file',0,1795469069897);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',7,'job_06h0mjye9023rszyjcj8cjqbw0','processing',NULL,0,1795469069901);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',8,'job_06h0mjye9023rszyjcj8cjqbw0','processing',NULL,1,1795469069932);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',9,'job_06h0mjye9023rszyjcj8cjqbw0','done',NULL,1,1795469069940);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',10,'job_06h0mjygghy3x23cmek082vj2m','queued',NULL,0,1795469070469);
INSERT INTO job_events VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm',11,'job_06h0mjygmhcz2e9z4jk2vjnkf8','queued',NULL,0,1795469070501);
CREATE TABLE idempotency (
    scope       TEXT NOT NULL, -- the API key's id
    name        TEXT NOT NULL, -- what the header says
    token       TEXT NOT NULL, -- whose reservation it is
    fingerprint TEXT NOT NULL, -- of the request, empty while it runs
    answer      TEXT NOT NULL, -- JSON, empty while it runs
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
INSERT INTO idempotency VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm/key_06h0mjybt520ka109nksjnq0dm','BXWQZCNJUQMFWQCK6LSTUYNAKB','06h0mjyd49xw00eabr367280e0','0bfb287339c22d345d346659b5c8794cd3b4504056f980d7ae337737e2d72ced','{"jobs":[{"id":"job_06h0mjyd4gwjp3kn61ahq73r48","filename":"animation.gif"}],"creditsRemaining":97}',1795555469605);
INSERT INTO idempotency VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm/key_06h0mjybt520ka109nksjnq0dm','QPWUHXSIP6TQPGUMGLTN7VQFCC-1','06h0mjye8nrwkds5p7ff638c80','50ccb50a38e9f3669a277de4582c3bc06384001d15c730f63873d853c62335f6','{"batchId":"batch_06h0mjye9023rszyjchzejmh64","jobs":[{"id":"job_06h0mjye9023rszyjcj8cjqbw0","filename":"animation-speed.gif"},{"id":"job_06h0mjye9023rszyjcjmebyk4r","filename":"broken.gif"}],"creditsRemaining":93}',1795555469897);
INSERT INTO idempotency VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm/key_06h0mjybt520ka109nksjnq0dm','TDP74Q2ZL6XTKRYAUR3LPCWYHU','06h0mjygedq3txbezwke0022kc','90f8a8d91fee22ea9517effca1404516e826cae7201ecc51897c8c96a7afa633','{"jobs":[{"id":"job_06h0mjygghy3x23cmek082vj2m","filename":"animation.gif"}],"creditsRemaining":90}',1795555470469);
INSERT INTO idempotency VALUES('acc_06h0mjyb0s1pwyck8n2nnqbchm/key_06h0mjybt520ka109nksjnq0dm','once','06h0mjygm1gq7140zx188c6r0w','62af14b90d3d20c6e73c1742082f7dbff6b67a60f96dd6560f9dad71b00ba692','{"jobs":[{"id":"job_06h0mjygmhcz2e9z4jk2vjnkf8","filename":"animation.gif"}],"creditsRemaining":87}',1795555470501);
CREATE TABLE stripe_customers (
    id         TEXT PRIMARY KEY, -- cus_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL
);
INSERT INTO stripe_customers VALUES('cus_1','acc_06h0mjyb8r3d6q2eh2nye03fnw',1700000000000);
CREATE TABLE stripe_events (
    id         TEXT PRIMARY KEY, -- evt_…
    created_at BIGINT NOT NULL
);
INSERT INTO stripe_events VALUES('evt_1',1700000000000);
CREATE TABLE payments (
    id         TEXT PRIMARY KEY, -- of Stripe: pi_… for a pack, in_… for a period
    account_id TEXT NOT NULL REFERENCES accounts (id),
    plan       TEXT NOT NULL,
    credits    BIGINT NOT NULL CHECK (credits >= 0),  -- granted; 0: lost before it was heard of
    amount     BIGINT NOT NULL CHECK (amount >= 0),   -- in the currency's smallest unit
    taken      BIGINT NOT NULL CHECK (taken >= 0),    -- credits taken back
    forgiven   BIGINT NOT NULL CHECK (forgiven >= 0), -- credits to be taken back that had been spent
    created_at BIGINT NOT NULL
);
INSERT INTO payments VALUES('pi_1','acc_06h0mjyb8r3d6q2eh2nye03fnw','light',150,999,0,0,1700000000000);
CREATE TABLE payment_losses (
    id         TEXT PRIMARY KEY, -- of Stripe: ch_… refunded, du_… disputed
    payment_id TEXT NOT NULL REFERENCES payments (id),
    amount     BIGINT NOT NULL CHECK (amount >= 0),
    final      BIGINT NOT NULL -- 1: an event that comes late does not change it
);
INSERT INTO payment_losses VALUES('ch_1','pi_1',100,0);
CREATE TABLE subscriptions (
    id         TEXT PRIMARY KEY, -- sub_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    plan       TEXT NOT NULL, -- empty: a price that is no plan's
    status     TEXT NOT NULL, -- Stripe's word
    told_at    BIGINT NOT NULL -- seconds: when Stripe said so
);
INSERT INTO subscriptions VALUES('sub_1','acc_06h0mjyb8r3d6q2eh2nye03fnw','pro-monthly','active',1700000000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',3);
CREATE INDEX mail_tokens_account ON mail_tokens (account_id, purpose);
CREATE INDEX mail_tokens_expiry ON mail_tokens (expires_at);
CREATE INDEX api_keys_account ON api_keys (account_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX ledger_account ON ledger (account_id, id);
CREATE UNIQUE INDEX ledger_once ON ledger (job_id, kind) WHERE job_id IS NOT NULL;
CREATE INDEX queues_turn ON queues (vtime, account_id) WHERE queued > 0;
CREATE INDEX queues_busy ON queues (vtime) WHERE queued > 0 OR running > 0;
CREATE INDEX queues_vtime ON queues (vtime);
CREATE INDEX jobs_queued ON jobs (account_id, state, id) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (account_id, state, id) WHERE state = 'processing';
CREATE INDEX jobs_failed ON jobs (account_id, state, id) WHERE state = 'failed';
CREATE INDEX jobs_waiting ON jobs (created_at) WHERE state = 'queued';
CREATE INDEX jobs_leases ON jobs (lease_until) WHERE state = 'processing';
CREATE INDEX jobs_key ON jobs (key_id, id) WHERE key_id IS NOT NULL;
CREATE INDEX jobs_account ON jobs (account_id, id);
CREATE INDEX jobs_batch ON jobs (batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX jobs_input ON jobs (input_key) WHERE input_key IS NOT NULL;
CREATE INDEX jobs_inputs ON jobs (ended_at) WHERE input_key IS NOT NULL AND ended_at IS NOT NULL;
CREATE INDEX jobs_outputs ON jobs (ended_at) WHERE output_key IS NOT NULL OR preview_key IS NOT NULL;
CREATE INDEX job_events_age ON job_events (at);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE INDEX stripe_customers_account ON stripe_customers (account_id, created_at);
CREATE INDEX stripe_events_age ON stripe_events (created_at);
CREATE INDEX payments_account ON payments (account_id, id);
CREATE INDEX payment_losses_payment ON payment_losses (payment_id);
CREATE INDEX subscriptions_account ON subscriptions (account_id, id);
COMMIT;
