//! Random names that cannot be guessed.

use tokio_rustls::rustls::crypto::ring;
use tonnage::{Error, Result};

/// 32 hexadecimal digits from the system's random numbers.
///
/// # Errors
/// `Unavailable` when the system has none.
pub(crate) fn random_name() -> Result<String> {
    let mut bytes = [0; 16];
    ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| Error::unavailable("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
