-- A store of schema version 1 with a run on the scripted device, as .dump of sqlite3 writes it.
BEGIN TRANSACTION;
CREATE TABLE cells( id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
position INTEGER NOT NULL CHECK(position >= 0), backend TEXT NOT NULL, device TEXT NOT NULL, probe TEXT NOT NULL,
metric TEXT NOT NULL, unit TEXT NOT NULL, better_less INTEGER NOT NULL CHECK(better_less IN(0,1)), counts TEXT
NOT NULL, axes TEXT NOT NULL, key INTEGER NOT NULL, status TEXT NOT NULL CHECK(status IN('planned','ok',
'untrusted','unsupported','failed','crashed','timeout','skipped')), reason TEXT NOT NULL, n INTEGER NOT NULL
CHECK(n >= 0), visits INTEGER NOT NULL CHECK(visits >= 0), median REAL, ci_low REAL, ci_high REAL, mad REAL, min
REAL, max REAL, modes INTEGER NOT NULL CHECK(modes BETWEEN 0 AND 2), mode_low REAL, mode_high REAL, mode_share
REAL, bound REAL, clock_hz REAL, footprint INTEGER NOT NULL, gate_checksum TEXT NOT NULL CHECK(gate_checksum
IN('n/a','pass','fail')), gate_checksum_text TEXT NOT NULL, gate_limit TEXT NOT NULL CHECK(gate_limit IN('n/a',
'pass','fail')), gate_limit_text TEXT NOT NULL, gate_clock TEXT NOT NULL CHECK(gate_clock IN('n/a','pass',
'fail')), gate_clock_text TEXT NOT NULL, gate_noise TEXT NOT NULL CHECK(gate_noise IN('n/a','pass','fail')),
gate_noise_text TEXT NOT NULL, gate_code TEXT NOT NULL CHECK(gate_code IN('n/a','pass','fail')), gate_code_text
TEXT NOT NULL, gate_footprint TEXT NOT NULL CHECK(gate_footprint IN('n/a','pass','fail')), gate_footprint_text
TEXT NOT NULL, gate_drift TEXT NOT NULL CHECK(gate_drift IN('n/a','pass','fail')), gate_drift_text TEXT NOT NULL,
visits_done INTEGER NOT NULL CHECK(visits_done >= 0), duration_s REAL NOT NULL, started_at REAL NOT NULL, detail
TEXT, UNIQUE(run_id, position)) STRICT;
INSERT INTO "cells" VALUES(1,1,0,'null','null','latency','latency','ns',1,
'time of one dependent load, address translation included, averaged over a walk',
'{"size":4096,"pattern":"random","allocator":"malloc","stride":64}',-3050625634874106864,'ok','',12,2,
1.50025947722842034615e+00,1.4982331940153639227e+00,1.50337592577506939939e+00,2.25222046425965771732e-03,
1.49617991518620740976e+00,1.5046065197704450167e+00,1,NULL,NULL,NULL,4.99986109775351073025e-01,
2.00039135852849102011e+09,4096,'pass','every walk ended at the line where it had to','pass',
'33.3% of the bound 0.500 ns (one cycle: an access that waits for another takes at least that)','pass',
'2.00 GHz, moved 0.0% within a visit, 0.0% between visits','pass','interval 0.34% of the median, asked 50%','n/a',
'this backend does not give the machine code to count in','n/a',
'the cell does not claim to be a number of main memory','n/a','no sentinel was read often enough yet',2,
3.15156999931787140667e-03,1.79526406665023016934e+09,'{"lines":64,"page_size":4096}');
INSERT INTO "cells" VALUES(2,1,1,'null','null','sentinel','time','ns',1,
'time of one multiplication (core) or of one cache line read in a row (memory)','{"what":"core"}',
-4707843627762391120,'ok','',12,2,1.49959115499226,1.49650824987376895869e+00,1.50213434857900374197e+00,
2.51010789956240820686e-03,1.49545170712413133529e+00,1.50474636941360406794e+00,1,NULL,NULL,NULL,NULL,
2.00037210043292021746e+09,64,'pass','the sum over the window is right','n/a',
'no physical bound is known for this cell','pass','2.00 GHz, moved 0.0% within a visit, 0.0% between visits',
'pass','interval 0.38% of the median, asked 50%','n/a','this backend does not give the machine code to count in',
'n/a','the cell does not claim to be a number of main memory','n/a','this cell is a sentinel itself',2,
0.000673928998367046,1.79526406661054348948e+09,'{}');
CREATE TABLE runs( id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE CHECK(length(uuid) BETWEEN 8 AND 39),
started_at REAL NOT NULL, ended_at REAL NOT NULL, state TEXT NOT NULL CHECK(state IN('running','complete',
'interrupted')), suite TEXT NOT NULL, command TEXT NOT NULL, seed INTEGER NOT NULL, precision REAL, budget_s REAL,
 visits INTEGER NOT NULL, isolate INTEGER NOT NULL CHECK(isolate IN(0,1)), tool_version TEXT NOT NULL,
tool_commit TEXT NOT NULL, host TEXT NOT NULL, provenance TEXT, devices TEXT, cells INTEGER NOT NULL CHECK(cells
>= 0), cells_ok INTEGER) STRICT;
INSERT INTO "runs" VALUES(1,'7289d412-544e-4875-9dec-be57a8cdec27',1.79526406659265708922e+09,
1.79526406675013232229e+09,'complete','latency','assay run latency --set size=4KiB --device null',
2442037348134773421,0.5,60.0,2,0,'0.1.0','c52434e','elsewhere','{"tool":{"version":"0.1.0"}}',
'[{"id":"null","backend":"null","name":"scripted device","threads":4}]',1,1);
CREATE TABLE visits( id INTEGER PRIMARY KEY, cell_id INTEGER NOT NULL REFERENCES cells(id) ON DELETE CASCADE,
number INTEGER NOT NULL CHECK(number >= 0), started_at REAL NOT NULL, prepare_s REAL, duration_s REAL, n INTEGER
NOT NULL CHECK(n >= 0), samples BLOB NOT NULL CHECK(length(samples) = 8 * n), warmup INTEGER NOT NULL, reps
INTEGER NOT NULL, sample_s REAL, clock_hz REAL, clock_low REAL, clock_high REAL, checksum TEXT NOT NULL
CHECK(checksum IN('n/a','pass','fail')), checksum_text TEXT NOT NULL, status TEXT NOT NULL CHECK(status
IN('planned','ok','untrusted','unsupported','failed','crashed','timeout','skipped')), reason TEXT NOT NULL,
excluded INTEGER NOT NULL CHECK(excluded IN(0,1)), worker INTEGER NOT NULL, bound REAL, bound_text TEXT NOT NULL,
footprint INTEGER NOT NULL, claims_memory INTEGER NOT NULL CHECK(claims_memory IN(0,1)), detail TEXT,
UNIQUE(cell_id, number)) STRICT;
INSERT INTO "visits" VALUES(1,2,0,1.79526406661054348948e+09,5.63439989491598680615e-05,
3.73192999177263118326e-04,6,
X'CFDCE68FE408F83FA67FD6ED7013F83F353C0AEB5A00F83FEF7AA7DB7503F83F43F19495DEEFF73F87F5051B5208F83F',0,82,
5.0429102541774584352e-04,2.00026580171349573143e+09,2.00026580171349573143e+09,2.00026580171349573143e+09,'pass',
'the sum over the window is right','ok','',0,0,NULL,'',64,0,'{}');
INSERT INTO "visits" VALUES(3,1,0,1.79526406665023016934e+09,2.46170002355938777327e-05,
1.57642599879181943833e-03,6,
X'73994A6087F8F73FF3323C49DE12F83FCCE005D7E3FAF73F20612160850FF83F4787D48925F7F73F65D6F6B8000EF83F',0,20867,
2.00468173842290433087e-03,2.00076826601020884514e+09,2.00076826601020884514e+09,2.00076826601020884514e+09,
'pass','every walk ended at the line where it had to','ok','',0,0,4.99969312642833119131e-01,
'one cycle: an access that waits for another takes at least that',4096,0,'{"lines":64,"page_size":4096}');
INSERT INTO "visits" VALUES(4,1,1,1.7952640666722049713e+09,4.10510001529473811388e-05,1.57514400052605196833e-03,
6,X'A1D710EA5802F83FB1E1B53FC7FFF73F529F125B8408F83F54B86D6D560DF83F5082CA595AF0F73F888BBA626BF9F73F',0,20820,
1.99906574821732529317e-03,2.00001445104677295677e+09,2.00001445104677295677e+09,2.00001445104677295677e+09,
'pass','every walk ended at the line where it had to','ok','',0,0,4.99986109775351073025e-01,
'one cycle: an access that waits for another takes at least that',4096,0,'{"lines":64,"page_size":4096}');
INSERT INTO "visits" VALUES(5,2,1,1.79526406669021034237e+09,1.31399992824299260973e-05,
3.00735999189782887697e-04,6,
X'91EE6BEED312F83F3A87EDC45EEDF73F0FA31499A0F8F73FD0C4F7AB4BFCF73F355A7C1C19F6F73FC423446720F0F73F',0,82,
5.03099742496047191986e-04,2.0004783991523447037e+09,2.0004783991523447037e+09,2.0004783991523447037e+09,'pass',
'the sum over the window is right','ok','',0,0,NULL,'',64,0,'{}');
COMMIT;
PRAGMA application_id = 1095975257;
PRAGMA user_version = 1;
