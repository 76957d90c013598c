//! SHA-256, from the TLS provider.

use tokio_rustls::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;

/// 64 hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let suite = TLS13_AES_128_GCM_SHA256.tls13();
    let output = suite.map(|suite| suite.common.hash_provider.hash(bytes));
    let bytes = output.as_ref().map_or(&[][..], AsRef::as_ref);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_the_digest_that_others_compute() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::sha256(b"abc"), abc);
    }
}
