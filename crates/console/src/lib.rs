//! The console of Tonnage: the files of a page for browsers, as bytes.
//!
//! `web/` has the sources, and `make console` builds `dist/` from them. `dist/` is committed, so
//! that the program builds without Node. `dist/SUMS` has the digests of both, which a test compares.

/// What the page may load and run: only what comes from its own server, and no text as code.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
    style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its name below `/console/`.
    pub name: &'static str,
    /// Its bytes, packed with gzip.
    pub bytes_gz: &'static [u8],
    /// The type of the bytes unpacked.
    pub content_type: &'static str,
    /// Another one for other bytes.
    pub etag: &'static str,
    /// Whether the name has a digest of the bytes, which thus never change.
    pub is_unchanging: bool,
}

/// All files of the page.
pub const ASSETS: &[Asset] = include!("../dist/assets.in");

/// The file of a name below `/console/`; the page itself has the empty one.
pub fn asset(path: &str) -> Option<Asset> {
    let name = if path.is_empty() { "index.html" } else { path };
    ASSETS.iter().find(|asset| asset.name == name).copied()
}
