//! How a RocksDB store is set up: plain values with good defaults.

use std::path::PathBuf;

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, DataBlockIndexType, Options};

/// How blocks of rows are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4: fast, about half the size on plain data. The default.
    #[default]
    Lz4,
    /// Zstandard: smaller, slower.
    Zstd,
}

/// How to open a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the rows live: one shard a directory, best one a disk. Empty for the store's own directory. Fixed when the
    /// store is made; opening an existing store with an empty list takes the directories that it remembers.
    pub data_directories: Vec<PathBuf>,
    /// Memory that keeps blocks of rows, in all shards together.
    pub cache_bytes: usize,
    /// Memory that gathers small writes before they go to a data file, for each shard. Two of these may be in use.
    pub memtable_bytes: usize,
    /// How blocks of rows are compressed.
    pub compression: Compression,
    /// Threads that flush and compact, for each shard.
    pub background_threads: usize,
    /// Whether to make the store when there is none.
    pub create_if_missing: bool,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_directories: Vec::new(),
            cache_bytes: 1 << 30,
            memtable_bytes: 64 << 20,
            compression: Compression::Lz4,
            background_threads: std::thread::available_parallelism().map_or(2, |cores| cores.get()).clamp(2, 16),
            create_if_missing: true,
            direct_io: false,
        }
    }
}

/// The options of the column family of rows without what only a database has (cache, filter): what `SstFileWriter` takes.
pub(crate) fn row_options(settings: &Settings) -> Options {
    row_options_with(settings, None)
}

/// The same with a block cache, for the database itself.
pub(crate) fn row_options_with(settings: &Settings, cache: Option<&Cache>) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(8 << 10);
    table.set_format_version(6);
    table.set_bloom_filter(10.0, false);
    table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
    if let Some(cache) = cache {
        table.set_block_cache(cache);
    }
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options.set_compression_type(match settings.compression {
        Compression::None => DBCompressionType::None,
        Compression::Lz4 => DBCompressionType::Lz4,
        Compression::Zstd => DBCompressionType::Zstd,
    });
    options.set_write_buffer_size(settings.memtable_bytes);
    options
}
