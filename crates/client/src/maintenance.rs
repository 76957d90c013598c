//! What administrators call: statistics, checks, backups.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use tonnage::{
    BackupInfo, BackupReport, BackupVerifyReport, CheckReport, Damage, PruneReport, Result,
    ShardStatistics, Statistics,
};

use crate::store::RemoteStore;

/// What a repair did.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Repaired {
    /// The statements of the indexes that were finished.
    pub indexes: Vec<String>,
    /// Stale entries that were taken out of indexes.
    pub entries: u64,
    /// Chunks of large objects that were deleted.
    pub chunks: u64,
    /// What could not be cleaned, and why.
    pub skipped: Vec<String>,
}

#[derive(Deserialize)]
struct ShardAnswer {
    place: String,
    rows_estimate: u64,
    disk_bytes: u64,
    files: u64,
    memtable_bytes: u64,
    cache_bytes: u64,
    compaction_pending_bytes: u64,
    details: Vec<(String, u64)>,
}

#[derive(Deserialize)]
struct CheckAnswer {
    rows: BTreeMap<String, u64>,
    pairs: u64,
    large_objects: u64,
    orphan_chunks: u64,
    leftover_rows: u64,
    stale_index_entries: u64,
    unfinished_indexes: Vec<String>,
    verified: VerifiedAnswer,
    damages: Vec<DamageAnswer>,
    damage_count: u64,
    repaired: Option<Repaired>,
}

#[derive(Deserialize)]
struct VerifiedAnswer {
    rows: u64,
    bytes: u64,
}

#[derive(Deserialize)]
struct DamageAnswer {
    place: String,
    what: String,
}

#[derive(Deserialize)]
struct VerifyBackupsAnswer {
    backups: Vec<u64>,
    files: u64,
    bytes: u64,
    damages: Vec<DamageAnswer>,
}

impl RemoteStore {
    /// A reading of the state of the store, shard by shard.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn statistics(&self) -> Result<Statistics> {
        #[derive(Deserialize)]
        struct StatisticsAnswer {
            shards: Vec<ShardAnswer>,
        }
        let told: StatisticsAnswer = self.act_json("tonnage.Statistics", &Json::Null)?;
        Ok(Statistics { shards: told.shards.into_iter().map(ShardStatistics::from).collect() })
    }

    /// Reads everything that is stored, as [`tonnage::Store::check`] does. The check ends with its
    /// call.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn check(&self) -> Result<CheckReport> {
        let told: CheckAnswer = self.act_json("tonnage.Check", &json!({"repair": false}))?;
        Ok(told.into())
    }

    /// The same; then finishes indexes, and removes what is not needed.
    ///
    /// # Errors
    /// As [`RemoteStore::check`].
    pub fn check_and_repair(&self) -> Result<(CheckReport, Repaired)> {
        let mut told: CheckAnswer = self.act_json("tonnage.Check", &json!({"repair": true}))?;
        let repaired = told.repaired.take().ok_or_else(|| self.unreadable_answer())?;
        Ok((told.into(), repaired))
    }

    /// Backs the store up into a directory below that of the server's backups.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn backup(&self, directory: &str, copy_always: bool) -> Result<BackupReport> {
        self.act_json("tonnage.Backup", &json!({"directory": directory, "copy": copy_always}))
    }

    /// The backups of such a directory, the oldest first.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn list_backups(&self, directory: &str) -> Result<Vec<BackupInfo>> {
        self.act_json("tonnage.ListBackups", &json!({"directory": directory}))
    }

    /// Reads all files of a backup, or of all of them, and compares their checksums.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn verify_backups(
        &self,
        directory: &str,
        backup: Option<u64>,
    ) -> Result<BackupVerifyReport> {
        let asked = json!({"directory": directory, "backup": backup});
        let told: VerifyBackupsAnswer = self.act_json("tonnage.VerifyBackups", &asked)?;
        let mut report = BackupVerifyReport::default();
        report.backups = told.backups;
        (report.files, report.bytes) = (told.files, told.bytes);
        report.damages = told.damages.into_iter().map(Damage::from).collect();
        Ok(report)
    }

    /// Removes all backups of a directory but the latest.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn prune_backups(&self, directory: &str, keep: usize) -> Result<PruneReport> {
        self.act_json("tonnage.PruneBackups", &json!({"directory": directory, "keep": keep}))
    }

    /// An action whose one answer is JSON.
    fn act_json<T: DeserializeOwned>(&self, action: &str, body: &Json) -> Result<T> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let answers = self.act(action, body)?;
        let told = answers.first().and_then(|told| serde_json::from_slice(told).ok());
        told.ok_or_else(|| self.unreadable_answer())
    }
}

impl From<ShardAnswer> for ShardStatistics {
    fn from(told: ShardAnswer) -> Self {
        Self {
            location: told.place,
            rows_estimate: told.rows_estimate,
            disk_bytes: told.disk_bytes,
            memtable_bytes: told.memtable_bytes,
            cache_bytes: told.cache_bytes,
            compaction_pending_bytes: told.compaction_pending_bytes,
            files: told.files,
            details: told.details,
            ..Self::default()
        }
    }
}

impl From<DamageAnswer> for Damage {
    fn from(told: DamageAnswer) -> Self {
        Self { location: told.place, what: told.what }
    }
}

impl From<CheckAnswer> for CheckReport {
    fn from(told: CheckAnswer) -> Self {
        let mut report = Self::default();
        report.rows = told.rows;
        report.pairs = told.pairs;
        report.large_objects = told.large_objects;
        report.orphan_chunks = told.orphan_chunks;
        report.leftover_rows = told.leftover_rows;
        report.stale_index_entries = told.stale_index_entries;
        report.unfinished_indexes = told.unfinished_indexes;
        (report.verified.rows, report.verified.bytes) = (told.verified.rows, told.verified.bytes);
        report.damages = told.damages.into_iter().map(Damage::from).collect();
        report.damage_count = told.damage_count;
        report
    }
}
