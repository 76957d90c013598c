//! Passwords: argon2id, 19 MiB, two rounds.

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use tonnage::{Error, Result};

use crate::random::random_name;

/// A hash like those of [`hash_password`], for names that have no password: to verify one against it
/// takes as long. Its digits were drawn at random, so no password is known for it.
pub(super) const HASH_OF_NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1\
    $WF+PP8T3SR4TApf6UADOw7Fy1yFQi3oQiK+GUsRPbds\
    $THBpkEknq5lMJuGtHFVb4CkXhP5KqQz2vqHIWLBgdpg";

/// What the file of users holds in the place of a password.
///
/// # Errors
/// `Invalid` for an empty password, `Unavailable` when the system has no random numbers.
pub fn hash_password(password: &str) -> Result<String> {
    if password.is_empty() {
        return Err(Error::invalid("the password is empty"));
    }
    let hash_error = |error: &dyn std::fmt::Display| {
        Error::internal(format!("the password cannot be hashed: {error}"))
    };
    let salt = random_name()?;
    let salt = SaltString::encode_b64(salt.as_bytes()).map_err(|error| hash_error(&error))?;
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|error| hash_error(&error))
}

/// Whether a hash can be read.
pub(super) fn is_hash(hash: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| hash.algorithm.as_str().starts_with("argon2"))
}

/// Whether a password is the one that was hashed. Takes some 20 ms of a core, on purpose.
pub(super) fn is_right_password(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash() {
        let hash = hash_password("a:b").unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(
            is_hash(&hash) && is_right_password("a:b", &hash) && !is_right_password("a:c", &hash)
        );
        assert_ne!(hash, hash_password("a:b").unwrap(), "each hash has its own salt");
        assert!(!is_hash("a:b"));
    }

    #[test]
    fn the_hash_of_nobody_costs_as_much_as_any_other() {
        let cost = |hash: &str| {
            let hash = PasswordHash::new(hash).unwrap();
            let output = hash.hash.map(|output| output.len());
            (hash.algorithm.to_string(), hash.version, hash.params.to_string(), output)
        };
        assert_eq!(cost(HASH_OF_NOBODY), cost(&hash_password("a:b").unwrap()));
        assert!(is_hash(HASH_OF_NOBODY) && !is_right_password("", HASH_OF_NOBODY));
    }
}
