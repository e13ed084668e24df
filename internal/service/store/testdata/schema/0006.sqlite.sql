PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-26 05:15:44');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-26 05:15:44');
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
INSERT INTO accounts VALUES('acc_06h1chznfwm105c7dcpxew2x4m','ann@example.com','$argon2id$v=19$m=19456,t=2,p=1$cAJ3+728moYQ280w3A9aSw$miIOijnpzYqxQ7bE9fXPnHe5qqUc9iY/KPbbiO3TxAk',1,87,'',1795670144383,1795670144383,NULL);
INSERT INTO accounts VALUES('acc_06h1chzntx0p1qtw193whpc204','bob@example.com','$argon2id$v=19$m=19456,t=2,p=1$ZC8pdqywzLpdTPNy6n8QBQ$ZNXdBWIKenXx1egk5uwVVVdM+nQh48r6UaOMKelrTQA',1,150,'light',1795670144471,1795670144471,NULL);
CREATE TABLE mail_tokens (
    hash       TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'confirm')),
    expires_at BIGINT NOT NULL
);
INSERT INTO mail_tokens VALUES('aa','acc_06h1chznfwm105c7dcpxew2x4m','reset',4102444800000);
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
INSERT INTO api_keys VALUES('key_06h1chzpeds42xnv3gjb70x4nr','acc_06h1chzntx0p1qtw193whpc204','made by admin','bgr_51_Ex0','dd1ae15e401a7d6932c50dcd2607988b5cabf4a87d361814cb6eb2c1cf557035',1795670144627,NULL,1795670144679);
INSERT INTO api_keys VALUES('key_06h1chzq8476j6j7mbrntwea5r','acc_06h1chznfwm105c7dcpxew2x4m','fixture','bgr_BQ45Ms','6b8f9be599330ea98b24791e183c5b1578aecfc2513306777152fe061df7896d',1795670144833,1795670146543,NULL);
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY, -- SHA-256 of the token, in hex
    data       BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO sessions VALUES('9ec4ea1a30991d183d7dbf0fce1f211c702f1c7258c4e79ddd73a0bb9aa9879d',X'257f030102ff800001020108446561646c696e6501ff8200010656616c75657301ff8400000010ff810501010454696d6501ff8200000027ff83040101176d61705b737472696e675d696e74657266616365207b7d01ff8400010c0110000057ff80010f010000000ee2c14482078a3ac9ffff0102076163636f756e7406737472696e670c20001e6163635f3036683163687a6e66776d31303563376463707865773278346d0565706f636805696e7436340402000200',1798262146126);
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
INSERT INTO ledger VALUES('led_06h1chzng06ab5d6qpvngga658','acc_06h1chznfwm105c7dcpxew2x4m','grant',100,NULL,'account made',1795670144384);
INSERT INTO ledger VALUES('led_06h1chzp2rcz2vwr559491m0z4','acc_06h1chzntx0p1qtw193whpc204','grant',150,NULL,'plan light',1795670144534);
INSERT INTO ledger VALUES('led_06h1chzs15cx0mzg0q5db6f0hg','acc_06h1chznfwm105c7dcpxew2x4m','charge',-3,'job_06h1chzs15cx0mzg0q53pjzcs8','',1795670145290);
INSERT INTO ledger VALUES('led_06h1chzv201d4xrkeagyrm45z8','acc_06h1chznfwm105c7dcpxew2x4m','charge',-4,'job_06h1chzv1xkja3m6n92ht95hz0','',1795670145808);
INSERT INTO ledger VALUES('led_06h1chzv201d4xrkeah53c810g','acc_06h1chznfwm105c7dcpxew2x4m','charge',-3,'job_06h1chzv1xkja3m6n92xn6c7q0','',1795670145808);
INSERT INTO ledger VALUES('led_06h1chzv201d4xrkeah6y0gf20','acc_06h1chznfwm105c7dcpxew2x4m','refund',3,'job_06h1chzv1xkja3m6n92xn6c7q0','',1795670145808);
INSERT INTO ledger VALUES('led_06h1chzxvscdq9her6yjkxaq6w','acc_06h1chznfwm105c7dcpxew2x4m','charge',-3,'job_06h1chzxvmbd79tpqswqvqbvkc','',1795670146527);
INSERT INTO ledger VALUES('led_06h1chzxys5wceh4cb9wzt4dpr','acc_06h1chznfwm105c7dcpxew2x4m','charge',-3,'job_06h1chzxys5wceh4cb9jsy0ntc','',1795670146551);
CREATE TABLE queues (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    vtime      BIGINT NOT NULL, -- credits' worth of work begun, not below its peers'
    queued     BIGINT NOT NULL CHECK (queued >= 0),
    running    BIGINT NOT NULL CHECK (running >= 0),
    events     BIGINT NOT NULL  -- the number of the last event
);
INSERT INTO queues VALUES('acc_06h1chznfwm105c7dcpxew2x4m',7,2,0,11);
CREATE TABLE batches (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id     TEXT, -- null: made in the dashboard
    created_at BIGINT NOT NULL
);
INSERT INTO batches VALUES('batch_06h1chzv1xkja3m6n92581jkd4','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r',1795670145807);
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
, quality TEXT, webhook_url TEXT);
INSERT INTO jobs VALUES('job_06h1chzs15cx0mzg0q53pjzcs8','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r',NULL,'req_06h1chzs01gs9apseyqa8595jg','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h1chzs0r8v6zeyyj5qqgjrvr',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,1,0,NULL,'jobs/job_06h1chzs15cx0mzg0q53pjzcs8/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h1chzs15cx0mzg0q53pjzcs8/out-1.gif',131,'4be756d6e8179deef5ee87a6851b136e61e42d46f872b861c74c0ff7b372942d','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795670145289,1795670145294,1795670145411,'{"kept":0.25,"warnings":[{"code":"touches_edge","message":"the picture''s left, top or right edge cuts off what was kept"}]}',NULL);
INSERT INTO jobs VALUES('job_06h1chzv1xkja3m6n92ht95hz0','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r','batch_06h1chzv1xkja3m6n92581jkd4','req_06h1chztzcevx7s3jgy20qpdm4','done',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation-speed.gif','inputs/06h1chzv15qksrbjcmgrrva7a0',133,'8558f2ecc7c4b74795ddd8c40a2e68d5c49f2407f14bd6e3508f70a60056ff8e','image/gif',4,2,2,3750,4,4,1,0,NULL,'jobs/job_06h1chzv1xkja3m6n92ht95hz0/preview-1.png',84,'26646b2f9db811c8e97f1e2e0f0ad4d497c0e63d0faa62dc17b8e799dcb76232','jobs/job_06h1chzv1xkja3m6n92ht95hz0/out-1.gif',131,'82e1f194dc02a14a7683cb8886111897e47fc0381e52098630f19878a339727f','{"width":26,"height":26,"source":{"width":2,"height":2},"window":{"x":-12,"y":-12,"width":26,"height":26},"target":{"x":0,"y":0,"width":26,"height":26},"start":0}',1795670145807,1795670145852,1795670145883,'{"kept":0.25,"warnings":[{"code":"touches_edge","message":"the picture''s left, top or right edge cuts off what was kept"}]}',NULL);
INSERT INTO jobs VALUES('job_06h1chzv1xkja3m6n92xn6c7q0','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r','batch_06h1chzv1xkja3m6n92581jkd4','req_06h1chztzcevx7s3jgy20qpdm4','failed','unreadable_file','{"method":"fast","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','broken.gif','inputs/06h1chzv1ddvp5q93w7jf3raqr',9,'2f9d23efc183016965f402b0ca2bfc1edb5830759a169288d8bc19dd99abe9c5','',0,0,0,0,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795670145807,NULL,1795670145807,NULL,NULL);
INSERT INTO jobs VALUES('job_06h1chzxvmbd79tpqswqvqbvkc','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r',NULL,'req_06h1chzxv0c8rp4nqk6hrcvhfg','queued',NULL,'{"method":"fast","tolerance":16,"crop":true,"pad":3,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h1chzxv4aw5bz9ga3zwdhy30',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795670146526,NULL,NULL,NULL,NULL);
INSERT INTO jobs VALUES('job_06h1chzxys5wceh4cb9jsy0ntc','acc_06h1chznfwm105c7dcpxew2x4m','key_06h1chzq8476j6j7mbrntwea5r',NULL,'req_06h1chzxxssw658fh5zp5dwwag','queued',NULL,'{"method":"auto","tolerance":16,"crop":true,"pad":12,"anchor":"center","outputFormat":"gif","bgColor":"transparent","trim":false}','gif','animation.gif','inputs/06h1chzxy9cdx7sz4y4z2kptp0',133,'ad5bbf2a1084ce0eccfb4a5d3fc06e5b04ff91f64b17e210a9cd4657dd382d8d','image/gif',4,2,2,2000,3,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795670146550,NULL,NULL,NULL,NULL);
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
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',1,'job_06h1chzs15cx0mzg0q53pjzcs8','queued',NULL,0,1795670145292);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',2,'job_06h1chzs15cx0mzg0q53pjzcs8','processing',NULL,0,1795670145294);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',3,'job_06h1chzs15cx0mzg0q53pjzcs8','processing',NULL,1,1795670145408);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',4,'job_06h1chzs15cx0mzg0q53pjzcs8','done',NULL,1,1795670145411);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',5,'job_06h1chzv1xkja3m6n92ht95hz0','queued',NULL,0,1795670145808);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',6,'job_06h1chzv1xkja3m6n92xn6c7q0','failed','unreadable_file',0,1795670145808);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',7,'job_06h1chzv1xkja3m6n92ht95hz0','processing',NULL,0,1795670145852);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',8,'job_06h1chzv1xkja3m6n92ht95hz0','processing',NULL,1,1795670145879);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',9,'job_06h1chzv1xkja3m6n92ht95hz0','done',NULL,1,1795670145883);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',10,'job_06h1chzxvmbd79tpqswqvqbvkc','queued',NULL,0,1795670146527);
INSERT INTO job_events VALUES('acc_06h1chznfwm105c7dcpxew2x4m',11,'job_06h1chzxys5wceh4cb9jsy0ntc','queued',NULL,0,1795670146551);
CREATE TABLE idempotency (
    scope       TEXT NOT NULL, -- the API key's id
    name        TEXT NOT NULL, -- what the header says
    token       TEXT NOT NULL, -- whose reservation it is
    fingerprint TEXT NOT NULL, -- of the request, empty while it runs
    answer      TEXT NOT NULL, -- JSON, empty while it runs
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
INSERT INTO idempotency VALUES('acc_06h1chznfwm105c7dcpxew2x4m/key_06h1chzq8476j6j7mbrntwea5r','JQGVE2LPB7BQFTLNOLCP5IXRRK','06h1chzs01gs9apseyqmqwjaj8','0bfb287339c22d345d346659b5c8794cd3b4504056f980d7ae337737e2d72ced','{"jobs":[{"id":"job_06h1chzs15cx0mzg0q53pjzcs8","filename":"animation.gif"}],"creditsRemaining":97}',1795756545292);
INSERT INTO idempotency VALUES('acc_06h1chznfwm105c7dcpxew2x4m/key_06h1chzq8476j6j7mbrntwea5r','LBJFMU3G22R5BBGI7QHGTARHIL-1','06h1chztzh0ty4e7qpjyacs5xm','50ccb50a38e9f3669a277de4582c3bc06384001d15c730f63873d853c62335f6','{"batchId":"batch_06h1chzv1xkja3m6n92581jkd4","jobs":[{"id":"job_06h1chzv1xkja3m6n92ht95hz0","filename":"animation-speed.gif"},{"id":"job_06h1chzv1xkja3m6n92xn6c7q0","filename":"broken.gif"}],"creditsRemaining":93}',1795756545808);
INSERT INTO idempotency VALUES('acc_06h1chznfwm105c7dcpxew2x4m/key_06h1chzq8476j6j7mbrntwea5r','QF5JGRWNPMYC56WFDWQ7YBIDFS','06h1chzxv0c8rp4nqk6p3rznm0','90f8a8d91fee22ea9517effca1404516e826cae7201ecc51897c8c96a7afa633','{"jobs":[{"id":"job_06h1chzxvmbd79tpqswqvqbvkc","filename":"animation.gif"}],"creditsRemaining":90}',1795756546527);
INSERT INTO idempotency VALUES('acc_06h1chznfwm105c7dcpxew2x4m/key_06h1chzq8476j6j7mbrntwea5r','once','06h1chzxxxyf7t5gb2dcb8bbz8','62af14b90d3d20c6e73c1742082f7dbff6b67a60f96dd6560f9dad71b00ba692','{"jobs":[{"id":"job_06h1chzxys5wceh4cb9jsy0ntc","filename":"animation.gif"}],"creditsRemaining":87}',1795756546551);
CREATE TABLE stripe_customers (
    id         TEXT PRIMARY KEY, -- cus_…
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL
);
INSERT INTO stripe_customers VALUES('cus_1','acc_06h1chzntx0p1qtw193whpc204',1700000000000);
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
INSERT INTO payments VALUES('pi_1','acc_06h1chzntx0p1qtw193whpc204','light',150,999,0,0,1700000000000);
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
INSERT INTO subscriptions VALUES('sub_1','acc_06h1chzntx0p1qtw193whpc204','pro-monthly','active',1700000000);
CREATE TABLE deployment (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO deployment VALUES('deployment','dep_06h1chzqe9ed49y2sbxq53ge3c');
INSERT INTO deployment VALUES('device-cookie secret','IRNTHXW37DZGFMOB566OSTL6WSF4PFCQEWLETVA6ODQBZA54GZLX');
INSERT INTO deployment VALUES('swept_at','1795670146389');
CREATE TABLE backup_objects (
    key TEXT PRIMARY KEY
);
CREATE TABLE webhook_endpoints (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    url        TEXT NOT NULL, -- empty: it signs what submissions ask for by webhookUrl
    secret     TEXT NOT NULL, -- whsec_…
    created_at BIGINT NOT NULL
);
CREATE TABLE webhook_deliveries (
    id          TEXT PRIMARY KEY, -- sortable by time; the webhook-id
    account_id  TEXT NOT NULL REFERENCES accounts (id),
    job_id      TEXT NOT NULL,
    endpoint_id TEXT, -- null: the submission's webhookUrl
    url         TEXT NOT NULL,
    event       TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts    BIGINT NOT NULL, -- who knows another number may not write the outcome
    next_at     BIGINT NOT NULL, -- when waiting: not sent before; while it is sent, until nobody else may
    status      BIGINT, -- of the last answer, null if there was none
    error       TEXT,   -- of the last attempt, null if it succeeded
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',7);
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
CREATE INDEX webhook_endpoints_account ON webhook_endpoints (account_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
COMMIT;
