PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-25 03:20:52');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-25 03:20:54');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-25 03:20:55');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-25 03:20:55');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-25 03:20:56');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-25 03:20:56');
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,
    email        TEXT NOT NULL UNIQUE, -- in lower case
    password     TEXT NOT NULL,        -- argon2id, in its own encoding
    epoch        BIGINT NOT NULL,      -- sessions of an older one are over
    credits      BIGINT NOT NULL CHECK (credits >= 0),
    plan         TEXT NOT NULL,        -- the one subscribed to, else the last one granted, or empty
    confirmed_at BIGINT,               -- null: a mail to email has yet to arrive
    created_at   BIGINT NOT NULL
, suspended_at BIGINT);
INSERT INTO accounts VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g','ann@example.com','$argon2id$v=19$m=19456,t=2,p=1$FXqriS82t+LMI95PsN1wVg$hntOBxDx79PdREIjrRFvTbvefpvs1A4Z8bgY2kXEk/U',1,87,'',1795576862990,1795576862990,NULL);
INSERT INTO accounts VALUES('acc_06h11e67ecnmkh2m8tkge692gg','bob@example.com','$argon2id$v=19$m=19456,t=2,p=1$bR2AhU5cjBSi9lDsmNRG/Q$PuME3WZ/YXBWubmY/Vsfv/OijLKqCJ0DQB5zCEYYLaI',1,150,'light',1795576874867,1795576874867,NULL);
CREATE TABLE mail_tokens (
    hash       TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'confirm')),
    expires_at BIGINT NOT NULL
);
INSERT INTO mail_tokens VALUES('aa','acc_06h11e4s1mf7hmh71n3xst0n7g','reset',4102444800000);
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
INSERT INTO api_keys VALUES('key_06h11e76t8zmgw2nk7m5c5ccew','acc_06h11e67ecnmkh2m8tkge692gg','made by admin','bgr_G936o5','5377e7fe2020f89e4f52315be5773e7861b162a0c63550243f6ba454d64449a4',1795576882898,NULL,1795576887057);
INSERT INTO api_keys VALUES('key_06h11e88786a98vzypk8gwcw34','acc_06h11e4s1mf7hmh71n3xst0n7g','fixture','bgr_CixWWB','0561c4c4bee630bd998ebfd8a4eafe1caec7601f16d8d9b456735c1312e17254',1795576891450,1795576994260,NULL);
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    data       BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO sessions VALUES('b50a45f1ad211cc9d282834d6095ac4e0a3008c1f3158d385809ab7432db8795',X'257f030102ff800001020108446561646c696e6501ff8200010656616c75657301ff8400000010ff810501010454696d6501ff8200000027ff83040101176d61705b737472696e675d696e74657266616365207b7d01ff8400010c0110000057ff80010f010000000ee2bfd87a2619350cffff0102076163636f756e7406737472696e670c20001e6163635f3036683131653473316d6637686d6837316e33787374306e37670565706f636805696e7436340402000200',1798168954639);
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
INSERT INTO ledger VALUES('led_06h11e4tyc5kv4b819e2abxvp8','acc_06h11e4s1mf7hmh71n3xst0n7g','grant',100,NULL,'account made',1795576863475);
INSERT INTO ledger VALUES('led_06h11e6p2039m6wdda6qe6064m','acc_06h11e67ecnmkh2m8tkge692gg','grant',150,NULL,'plan light',1795576878608);
INSERT INTO ledger VALUES('led_06h11ed9jwhqyyb4f1z2e9chpc','acc_06h11e4s1mf7hmh71n3xst0n7g','charge',-3,'job_06h11ed9js2nd8s0ztws04wnm4','',1795576932759);
INSERT INTO ledger VALUES('led_06h11eebh1dm1khd22aaa9g6zc','acc_06h11e4s1mf7hmh71n3xst0n7g','charge',-4,'job_06h11eebh1dm1khd229mv581vr','',1795576941448);
INSERT INTO ledger VALUES('led_06h11eebh1dm1khd22ag34mw54','acc_06h11e4s1mf7hmh71n3xst0n7g','charge',-3,'job_06h11eebh1dm1khd229zwaxevm','',1795576941448);
INSERT INTO ledger VALUES('led_06h11eebh4qhzzpa91wfjkmvzg','acc_06h11e4s1mf7hmh71n3xst0n7g','refund',3,'job_06h11eebh1dm1khd229zwaxevm','',1795576941449);
INSERT INTO ledger VALUES('led_06h11emjvw0wdh5j2j18450f2w','acc_06h11e4s1mf7hmh71n3xst0n7g','charge',-3,'job_06h11emjvw0wdh5j2j16r5rakm','',1795576992480);
INSERT INTO ledger VALUES('led_06h11emtzgs1g6nagn19hwmb4r','acc_06h11e4s1mf7hmh71n3xst0n7g','charge',-3,'job_06h11emtzgs1g6nagn131bm0j4','',1795576994556);
CREATE TABLE queues (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    vtime      BIGINT NOT NULL, -- credits' worth of work begun, not below its peers'
    queued     BIGINT NOT NULL CHECK (queued >= 0),
    running    BIGINT NOT NULL CHECK (running >= 0),
    events     BIGINT NOT NULL  -- the number of the last event
);
INSERT INTO queues VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',7,2,0,11);
CREATE TABLE batches (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id     TEXT, -- null: made in the dashboard
    created_at BIGINT NOT NULL
);
INSERT INTO batches VALUES('batch_06h11eebh1dm1khd229gtp75xw','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34',1795576941448);
CREATE TABLE jobs (
    id            TEXT PRIMARY KEY, -- sortable by time
    account_id    TEXT NOT NULL REFERENCES accounts (id),
    key_id        TEXT, -- null: made in the dashboard
    batch_id      TEXT REFERENCES batches (id),
    request_id    TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('queued', 'processing', 'done', 'failed', 'cancelled')),
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
, quality TEXT);
INSERT INTO jobs VALUES('job_06h11ed9js2nd8s0ztws04wnm4','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34',NULL,'req_06h11ed7wceq9v2eb08hqdwyj4','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h11ed8t0mahvmx10mx8vfasr',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,1,0,NULL,'jobs/job_06h11ed9js2nd8s0ztws04wnm4/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h11ed9js2nd8s0ztws04wnm4/out-1.gif',131,'4be756d6e8179deef5ee87a6851b136e61e42d46f872b861c74c0ff7b372942d','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795576932758,1795576933000,1795576936921,'{"kept":0.25,"warnings":[{"code":"touches_edge","message":"the picture''s left, top or right edge cuts off what was kept"}]}');
INSERT INTO jobs VALUES('job_06h11eebh1dm1khd229mv581vr','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34','batch_06h11eebh1dm1khd229gtp75xw','req_06h11ee9fha4206ef77s51b51c','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation-speed.gif','inputs/06h11eea1d4b9wg243nftymwdc',133,'8558f2ecc7c4b74795ddd8c40a2e68d5c49f2407f14bd6e3508f70a60056ff8e','image/gif',4,2,2,3750,4,4,1,0,NULL,'jobs/job_06h11eebh1dm1khd229mv581vr/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h11eebh1dm1khd229mv581vr/out-1.gif',131,'82e1f194dc02a14a7683cb8886111897e47fc0381e52098630f19878a339727f','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795576941448,1795576941657,1795576944116,'{"kept":0.25,"warnings":[{"code":"touches_edge","message":"the picture''s left, top or right edge cuts off what was kept"}]}');
INSERT INTO jobs VALUES('job_06h11eebh1dm1khd229zwaxevm','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34','batch_06h11eebh1dm1khd229gtp75xw','req_06h11ee9fha4206ef77s51b51c','failed','unreadable_file','{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','broken.gif','inputs/06h11eeathhevmfx422re139q0',9,'2f9d23efc183016965f402b0ca2bfc1edb5830759a169288d8bc19dd99abe9c5','',0,0,0,0,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795576941448,NULL,1795576941448,NULL);
INSERT INTO jobs VALUES('job_06h11emjvw0wdh5j2j16r5rakm','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34',NULL,'req_06h11emh3dpcthjpn23q7ndkm4','queued',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":3,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h11emjahqzzdt98rrh31n5mr',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795576992479,NULL,NULL,NULL);
INSERT INTO jobs VALUES('job_06h11emtzgs1g6nagn131bm0j4','acc_06h11e4s1mf7hmh71n3xst0n7g','key_06h11e88786a98vzypk8gwcw34',NULL,'req_06h11emstg028pd4p3g5x2shhc','queued',NULL,'{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h11emt649rb6kxjfsxcgnz1m',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795576994556,NULL,NULL,NULL);
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
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',1,'job_06h11ed9js2nd8s0ztws04wnm4','queued',NULL,0,1795576932759);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',2,'job_06h11ed9js2nd8s0ztws04wnm4','processing',NULL,0,1795576933001);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',3,'job_06h11ed9js2nd8s0ztws04wnm4','processing',NULL,1,1795576936732);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',4,'job_06h11ed9js2nd8s0ztws04wnm4','done',NULL,1,1795576937007);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',5,'job_06h11eebh1dm1khd229mv581vr','queued',NULL,0,1795576941449);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',6,'job_06h11eebh1dm1khd229zwaxevm','failed','unreadable_file',0,1795576941449);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',7,'job_06h11eebh1dm1khd229mv581vr','processing',NULL,0,1795576941657);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',8,'job_06h11eebh1dm1khd229mv581vr','processing',NULL,1,1795576943727);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',9,'job_06h11eebh1dm1khd229mv581vr','done',NULL,1,1795576944116);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',10,'job_06h11emjvw0wdh5j2j16r5rakm','queued',NULL,0,1795576992480);
INSERT INTO job_events VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g',11,'job_06h11emtzgs1g6nagn131bm0j4','queued',NULL,0,1795576994556);
CREATE TABLE idempotency (
    scope       TEXT NOT NULL, -- the API key's id
    name        TEXT NOT NULL, -- what the header says
    token       TEXT NOT NULL, -- whose reservation it is
    fingerprint TEXT NOT NULL, -- of the request, empty while it runs
    answer      TEXT NOT NULL, -- JSON, empty while it runs
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
INSERT INTO idempotency VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g/key_06h11e88786a98vzypk8gwcw34','6PIGHYTXEMDBBXE4VF5MKPDOVY','06h11ed7wgkdv6fkpj1mkq0drr','0bfb287339c22d345d346659b5c8794cd3b4504056f980d7ae337737e2d72ced','{"jobs":[{"id":"job_06h11ed9js2nd8s0ztws04wnm4","filename":"animation.gif"}],"creditsRemaining":97}',1795663332975);
INSERT INTO idempotency VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g/key_06h11e88786a98vzypk8gwcw34','IPMYXGWPTN6AJ7PFL2DJL2EJAK-1','06h11ee9fha4206ef783jpnj6r','50ccb50a38e9f3669a277de4582c3bc06384001d15c730f63873d853c62335f6','{"batchId":"batch_06h11eebh1dm1khd229gtp75xw","jobs":[{"id":"job_06h11eebh1dm1khd229mv581vr","filename":"animation-speed.gif"},{"id":"job_06h11eebh1dm1khd229zwaxevm","filename":"broken.gif"}],"creditsRemaining":93}',1795663341449);
INSERT INTO idempotency VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g/key_06h11e88786a98vzypk8gwcw34','ZJT2TDSGGGUHYD6TEHMCJB326X','06h11emh3dpcthjpn23r6bnbx8','90f8a8d91fee22ea9517effca1404516e826cae7201ecc51897c8c96a7afa633','{"jobs":[{"id":"job_06h11emjvw0wdh5j2j16r5rakm","filename":"animation.gif"}],"creditsRemaining":90}',1795663392480);
INSERT INTO idempotency VALUES('acc_06h11e4s1mf7hmh71n3xst0n7g/key_06h11e88786a98vzypk8gwcw34','once','06h11emstg028pd4p3g6fy17dr','62af14b90d3d20c6e73c1742082f7dbff6b67a60f96dd6560f9dad71b00ba692','{"jobs":[{"id":"job_06h11emtzgs1g6nagn131bm0j4","filename":"animation.gif"}],"creditsRemaining":87}',1795663394556);
CREATE TABLE stripe_customers (
    id         TEXT PRIMARY KEY, -- cus_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL
);
INSERT INTO stripe_customers VALUES('cus_1','acc_06h11e67ecnmkh2m8tkge692gg',1700000000000);
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
INSERT INTO payments VALUES('pi_1','acc_06h11e67ecnmkh2m8tkge692gg','light',150,999,0,0,1700000000000);
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
INSERT INTO subscriptions VALUES('sub_1','acc_06h11e67ecnmkh2m8tkge692gg','pro-monthly','active',1700000000);
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO deployment VALUES('deployment','dep_06h11e8qnx61j4xtk40f2t6ycg');
INSERT INTO deployment VALUES('device-cookie secret','RBSUTFDLPU6AKUK5Z4O56JRYWB4MP3SXBEYFNKFXT4FCSZ26Q4G3');
INSERT INTO deployment VALUES('swept_at','1795576988150');
CREATE TABLE backup_objects (
    key TEXT PRIMARY KEY
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',6);
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
CREATE INDEX jobs_timed_out ON jobs (account_id, ended_at) WHERE error = 'timed_out';
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX job_events_job ON job_events (job_id);
CREATE INDEX jobs_cancelled ON jobs (account_id, state, id) WHERE state = 'cancelled';
COMMIT;
