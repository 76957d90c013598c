//! A server that speaks Redis' protocol, elsewhere: each thread has a connection of its own.
//!
//! Pairs are strings. YCSB's records are hashes, as in YCSB's own binding, without the sorted set
//! that this keeps for scans: Redis has no order of keys. The database must be empty, and is
//! emptied at the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use redis::{Cmd, Connection, ConnectionInfo, FromRedisValue, IntoConnectionInfo};
use tonnage::{Durability, Error, Result};
use tonnage_client::Credentials;

use super::library::field_name;
use super::{
    BulkDone, BulkOptions, Client, Feature, Fields, Gauges, GetKeys, PairSource, PutInput, Record,
    RecordScan, RecordShape, RecordSource, System, SystemSpec,
};

/// Keys of one MSET or MGET.
const KEYS_AT_ONCE: usize = 100;

/// A server that speaks Redis' protocol.
pub(super) struct Redis {
    address: String,
    connect: ConnectionInfo,
    /// How often the server syncs its log, as far as it tells.
    appendfsync: String,
    durability: Durability,
    /// Fields of a record; 0 before there is a place for records.
    fields: AtomicUsize,
    /// Whether the database was empty, so that all its keys are the benchmark's.
    is_clearable: bool,
}

impl Redis {
    /// # Errors
    /// `Unavailable` where nobody answers, `Invalid` where the database holds keys.
    pub(super) fn connect(spec: &SystemSpec, address: &str) -> Result<Self> {
        let connect = address.into_connection_info();
        let mut connect = connect.map_err(|error| {
            Error::invalid(format!("{address}: this is not an address of a server: {error}"))
        })?;
        if let Some(credentials) = &spec.client.credentials {
            let settings = connect.redis_settings().clone();
            connect = connect.set_redis_settings(match credentials {
                Credentials::Password { user, password } => {
                    settings.set_username(user).set_password(password)
                }
                Credentials::Token(token) => settings.set_password(token),
            });
        }
        let mut system = Redis {
            address: address.to_owned(),
            connect,
            appendfsync: String::new(),
            durability: spec.durability,
            fields: AtomicUsize::new(0),
            is_clearable: false,
        };
        // Until the database is seen to be empty, nothing is deleted when this goes.
        let keys: u64 = system.session()?.ask(&redis::cmd("DBSIZE"))?;
        if keys > 0 {
            return Err(Error::invalid(format!(
                "{address}: the database holds {keys} keys, and a benchmark empties it at its end: \
                 give it an empty one"
            )));
        }
        // Servers that others run often refuse this command.
        let mut asked = redis::cmd("CONFIG");
        asked.arg("GET").arg("appendfsync");
        let told: Vec<String> = system.session()?.ask(&asked).unwrap_or_default();
        system.appendfsync = told.into_iter().nth(1).unwrap_or_else(|| "unknown".to_owned());
        system.is_clearable = true;
        Ok(system)
    }

    fn session(&self) -> Result<RedisClient<'_>> {
        let opened =
            redis::Client::open(self.connect.clone()).and_then(|client| client.get_connection());
        let connection = opened.map_err(|error| {
            Error::unavailable(format!("{}: no connection: {error}", self.address))
        })?;
        Ok(RedisClient { system: self, connection })
    }

    /// What a server cannot be asked for, it must be set up for.
    fn check_durability(&self, durability: Durability) -> Result<()> {
        if durability == Durability::Fsync && self.appendfsync != "always" {
            return Err(self.unsupported(
                "durability fsync as it is set up: start it with appendonly yes and appendfsync always",
            ));
        }
        Ok(())
    }

    /// Empties the sources side by side, each through a connection of its own.
    fn on_each<S: Send>(
        &self,
        sources: Vec<S>,
        work: impl Fn(&mut RedisClient<'_>, S) -> Result<BulkDone> + Sync,
    ) -> Result<BulkDone> {
        let work = &work;
        thread::scope(|scope| {
            let workers: Vec<_> = sources
                .into_iter()
                .map(|source| scope.spawn(move || work(&mut self.session()?, source)))
                .collect();
            let mut done = BulkDone::default();
            for worker in workers {
                let part = worker.join();
                let part = part.unwrap_or_else(|_| Err(Error::internal("a thread panicked")));
                done.add(&part?);
            }
            Ok(done)
        })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if !self.is_clearable {
            return;
        }
        let emptied = self
            .session()
            .and_then(|mut session| session.ask::<()>(redis::cmd("FLUSHDB").arg("ASYNC")));
        if let Err(error) = emptied {
            eprintln!("{}: data of the benchmark is left: {error}", self.address);
        }
    }
}

impl System for Redis {
    fn name(&self) -> &str {
        &self.address
    }

    fn settings(&self) -> Vec<(String, String)> {
        [("transport", "RESP"), ("appendfsync", &self.appendfsync), ("connections", "one a thread")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    fn offers(&self, _feature: Feature) -> bool {
        false
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        match self.fields.swap(shape.fields, Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(Error::invalid("there are records already")),
        }
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        self.check_durability(self.durability)?;
        Ok(Box::new(self.session()?))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        self.check_durability(options.durability)?;
        match input {
            PutInput::Pairs(sources) => {
                self.on_each(sources, |session, mut source| session.put_pairs(&mut source, options))
            }
            PutInput::Records(shape, sources) => self.on_each(sources, |session, mut source| {
                session.put_records(&shape, &mut source, options)
            }),
            PutInput::Rows(..) | PutInput::Tables(_) => Err(self.unsupported("tables")),
        }
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let GetKeys::Pairs(source, _) = keys else { return Err(self.unsupported("tables")) };
        self.on_each(vec![source], |session, mut source| session.get_pairs(&mut source, options))
    }

    /// The server syncs by its own settings.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        Ok(())
    }

    fn gauges(&self) -> Result<Gauges> {
        Ok(Gauges::default())
    }
}

/// A session of one thread.
struct RedisClient<'a> {
    system: &'a Redis,
    connection: Connection,
}

impl RedisClient<'_> {
    fn failed(&self, error: redis::RedisError) -> Error {
        Error::unavailable(format!("{}: {error}", self.system.address))
    }

    fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T> {
        command.query(&mut self.connection).map_err(|error| self.failed(error))
    }

    /// Sends the commands of a pipeline, and waits for all answers.
    fn ask_all<T: FromRedisValue>(&mut self, pipeline: &redis::Pipeline) -> Result<T> {
        pipeline.query(&mut self.connection).map_err(|error| self.failed(error))
    }

    fn put_pairs(
        &mut self,
        source: &mut PairSource,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let mut done = BulkDone::default();
        let mut more = true;
        while more {
            let (mut pipeline, mut entries, mut bytes) = (redis::pipe(), 0, 0);
            let mut mset = redis::cmd("MSET");
            // One batch of the source is one pipeline, so that its size bounds the memory.
            more = source(&mut |key, value| {
                entries += 1;
                bytes += (key.len() + value.len()) as u64;
                if !options.overwrite {
                    // Each answer says whether the key existed.
                    pipeline.cmd("SETNX").arg(key).arg(value);
                    return Ok(());
                }
                mset.arg(key).arg(value);
                if entries % KEYS_AT_ONCE == 0 {
                    pipeline.add_command(std::mem::replace(&mut mset, redis::cmd("MSET"))).ignore();
                }
                Ok(())
            })?;
            if options.overwrite && entries % KEYS_AT_ONCE > 0 {
                pipeline.add_command(mset).ignore();
            }
            if entries == 0 {
                continue;
            }
            let stored: Vec<u64> = self.ask_all(&pipeline)?;
            let rows = if options.overwrite { entries as u64 } else { stored.iter().sum() };
            done.existed += entries as u64 - rows;
            done.count(rows, bytes, options);
        }
        Ok(done)
    }

    fn put_records(
        &mut self,
        shape: &RecordShape,
        source: &mut RecordSource,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let mut done = BulkDone::default();
        let mut more = true;
        while more {
            let (mut pipeline, mut rows, mut bytes) = (redis::pipe(), 0, 0);
            // One batch of the source is one pipeline, so that its size bounds the memory.
            more = source(&mut |key, record| {
                // A field too few would keep its old value.
                if record.len() != shape.fields {
                    return Err(Error::invalid(format!(
                        "a record has {} fields, those of {} have {}",
                        record.len(),
                        shape.table,
                        shape.fields
                    )));
                }
                let command = pipeline.cmd("HSET").arg(key);
                for (number, field) in record.iter().enumerate() {
                    command.arg(field_name(number)).arg(field);
                    bytes += field.len() as u64;
                }
                command.ignore();
                (rows, bytes) = (rows + 1, bytes + key.len() as u64);
                Ok(())
            })?;
            if rows > 0 {
                self.ask_all::<()>(&pipeline)?;
                done.count(rows, bytes, options);
            }
        }
        Ok(done)
    }

    fn get_pairs(
        &mut self,
        source: &mut PairSource,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let mut done = BulkDone::default();
        let mut more = true;
        while more {
            let (mut pipeline, mut keys) = (redis::pipe(), 0);
            let mut mget = redis::cmd("MGET");
            // One batch of the source is one pipeline, so that its size bounds the memory.
            more = source(&mut |key, _| {
                keys += 1;
                mget.arg(key);
                if keys % KEYS_AT_ONCE == 0 {
                    pipeline.add_command(std::mem::replace(&mut mget, redis::cmd("MGET")));
                }
                Ok(())
            })?;
            if keys % KEYS_AT_ONCE > 0 {
                pipeline.add_command(mget);
            }
            if keys == 0 {
                continue;
            }
            let answers: Vec<Vec<Option<Vec<u8>>>> = self.ask_all(&pipeline)?;
            // A key that is not there has no value: what was found is counted.
            let values = answers.iter().flatten().flatten();
            let (rows, bytes) =
                values.fold((0, 0), |(rows, bytes), value| (rows + 1, bytes + value.len() as u64));
            done.count(rows, bytes, options);
        }
        Ok(done)
    }
}

impl Client for RedisClient<'_> {
    fn read(&mut self, key: &str, fields: Option<&[usize]>, into: &mut Record) -> Result<bool> {
        into.clear();
        let mut command = redis::cmd("HMGET");
        command.arg(key);
        match fields {
            Some(fields) => fields.iter().for_each(|field| _ = command.arg(field_name(*field))),
            None => {
                let count = self.system.fields.load(Ordering::Relaxed);
                (0..count).for_each(|field| _ = command.arg(field_name(field)));
            }
        }
        let values: Vec<Option<Vec<u8>>> = self.ask(&command)?;
        values.iter().flatten().for_each(|value| into.push(value));
        Ok(!into.is_empty())
    }

    fn insert(&mut self, key: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
        let mut command = redis::cmd("HSET");
        command.arg(key);
        for (number, field) in fields.enumerate() {
            command.arg(field_name(number)).arg(field);
        }
        self.ask(&command)
    }

    /// One command changes some fields, as in YCSB's own binding.
    fn update(
        &mut self,
        key: &str,
        fields: &[usize],
        values: &Record,
        _current: &mut Record,
    ) -> Result<bool> {
        let mut command = redis::cmd("HSET");
        command.arg(key);
        for (place, field) in fields.iter().enumerate() {
            let value = values.get(place);
            command.arg(field_name(*field)).arg(value);
        }
        let new: u64 = self.ask(&command)?;
        if new > 0 {
            // There was no record: none must be left of the fields given alone.
            self.ask::<()>(redis::cmd("DEL").arg(key))?;
        }
        Ok(new == 0)
    }

    fn scan(&mut self, _scan: &RecordScan<'_>, _into: &mut Record) -> Result<usize> {
        Err(self.system.unsupported("scans in key order"))
    }

    fn put_pair(&mut self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.system.check_durability(durability)?;
        self.ask(redis::cmd("SET").arg(key).arg(value))
    }

    fn get_pair(&mut self, key: &[u8]) -> Result<Option<usize>> {
        let value: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(key))?;
        Ok(value.map(|value| value.len()))
    }
}
