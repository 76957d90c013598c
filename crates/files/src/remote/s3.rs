//! Storage that speaks S3: `s3://BUCKET/KEY` and `gs://BUCKET/KEY`.

use std::sync::Arc;

use tonnage_engine::{Error, Result};

use super::access::{Signature, StorageAccess};
use super::bucket::Bucket;
use super::listing::{Listing, encode_key};
use super::profile::AwsProfile;
use super::signature::Signer;

/// Who has buckets.
struct S3Provider {
    scheme: &'static str,
    /// What the variables of the environment begin with.
    variables: &'static str,
    region: &'static str,
    /// Where its buckets are, if not at names of their own.
    endpoint: Option<&'static str>,
    /// Whether its tools keep profiles in files.
    has_profiles: bool,
}

const PROVIDERS: [S3Provider; 2] = [
    S3Provider {
        scheme: "s3",
        variables: "AWS",
        region: "us-east-1",
        endpoint: None,
        has_profiles: true,
    },
    S3Provider {
        scheme: "gs",
        variables: "GS",
        region: "auto",
        endpoint: Some("https://storage.googleapis.com"),
        has_profiles: false,
    },
];

/// Whether addresses of a scheme, in small letters, are of this kind.
pub(super) fn is_scheme(scheme: &str) -> bool {
    ["s3", "s3a", "gs"].contains(&scheme)
}

/// The bucket that an address begins with, and the key after it.
pub(super) fn locate<'a>(
    scheme: &str,
    rest: &'a str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Bucket, &'a str)> {
    let [s3, gs] = &PROVIDERS;
    let provider = if scheme == "gs" { gs } else { s3 };
    let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
    match name.is_empty() {
        true => Err(Error::invalid(format!("it names no bucket: write {scheme}://BUCKET/KEY"))),
        false => Ok((bucket(provider, name, variable)?, key)),
    }
}

fn bucket(
    provider: &S3Provider,
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Bucket> {
    let variables = provider.variables;
    let set = |name: &str| variable(&format!("{variables}_{name}"));
    let profile = match provider.has_profiles {
        true => AwsProfile::load(variable)?,
        false => AwsProfile::default(),
    };
    let region = set("REGION").or_else(|| set("DEFAULT_REGION")).or(profile.region);
    let region = region.unwrap_or_else(|| provider.region.to_owned());
    let endpoint = set("ENDPOINT_URL_S3").or_else(|| set("ENDPOINT_URL")).or(profile.endpoint);
    let endpoint = endpoint.or_else(|| provider.endpoint.map(str::to_owned));
    let url = match endpoint {
        Some(endpoint) => format!("{}/{}", endpoint.trim_end_matches('/'), encode_key(name)),
        // A certificate is for one level of names.
        None if name.contains('.') => format!("https://s3.{region}.amazonaws.com/{name}"),
        None => format!("https://{name}.s3.{region}.amazonaws.com"),
    };
    let signature = match (set("ACCESS_KEY_ID"), set("SECRET_ACCESS_KEY")) {
        (Some(key_id), Some(secret)) => {
            let session_token = set("SESSION_TOKEN");
            Signature::S3(Signer { key_id, secret, session_token, region })
        }
        (None, None) => profile.keys.map_or(Signature::None, |keys| {
            let (key_id, secret, session_token) = (keys.id, keys.secret, keys.session_token);
            Signature::S3(Signer { key_id, secret, session_token, region })
        }),
        _ => {
            // The other half is not taken from the profile, which may be of another account.
            return Err(Error::invalid(format!(
                "set both {variables}_ACCESS_KEY_ID and {variables}_SECRET_ACCESS_KEY, or neither"
            )));
        }
    };
    let remedy = match &signature {
        Signature::None => {
            let or_profile = if provider.has_profiles { ", or AWS_PROFILE" } else { "" };
            format!(
                "it was asked without credentials: set {variables}_ACCESS_KEY_ID and {variables}_SECRET_ACCESS_KEY{or_profile}"
            )
        }
        _ => "it wants other credentials, or none may read this".to_owned(),
    };
    Ok(Bucket {
        address: format!("{}://{name}", provider.scheme),
        url,
        token: None,
        listing: Listing::S3,
        access: Arc::new(StorageAccess { signature, remedy }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket_of(name: &str, variables: &[(&str, &str)]) -> Result<Bucket> {
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        bucket(&PROVIDERS[0], name, &value)
    }

    fn key_id(bucket: &Bucket) -> Option<&str> {
        match &bucket.access.signature {
            Signature::S3(signer) => Some(&signer.key_id),
            _ => None,
        }
    }

    #[test]
    fn buckets_are_where_the_environment_says() {
        let url = |name: &str, variables: &[_]| bucket_of(name, variables).unwrap().url;
        assert_eq!(url("b", &[]), "https://b.s3.us-east-1.amazonaws.com");
        let region = [("AWS_REGION", "eu-west-1")];
        assert_eq!(url("b.c", &region), "https://s3.eu-west-1.amazonaws.com/b.c");
        let local = bucket_of("b", &[("AWS_ENDPOINT_URL", "http://localhost:9000/")]).unwrap();
        assert_eq!(local.object("a b/ü.csv").file.url, "http://localhost:9000/b/a%20b/%C3%BC.csv");
        assert_eq!(local.object("a b.csv").name, "s3://b/a b.csv");
        assert_eq!(key_id(&local), None);
        let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
        assert_eq!(key_id(&bucket_of("b", &keys).unwrap()), Some("k"));
        let half = bucket_of("b", &keys[..1]).err().unwrap();
        assert!(half.message().contains("AWS_SECRET_ACCESS_KEY"), "{half}");
    }

    #[test]
    fn profiles_fill_what_the_environment_leaves_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials");
        let text = "[default]\naws_access_key_id = d\naws_secret_access_key = s\n[other]\naws_access_key_id = o\naws_secret_access_key = s\nregion = eu-north-1\n";
        std::fs::write(&path, text).unwrap();
        let path = ("AWS_SHARED_CREDENTIALS_FILE", path.to_str().unwrap());
        let config = ("AWS_CONFIG_FILE", "/dev/null");
        assert_eq!(key_id(&bucket_of("b", &[path, config]).unwrap()), Some("d"));
        let other = ("AWS_PROFILE", "other");
        let bucket = bucket_of("b", &[path, config, other]).unwrap();
        assert_eq!(key_id(&bucket), Some("o"));
        assert_eq!(bucket.url, "https://b.s3.eu-north-1.amazonaws.com");
        let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
        let bucket = bucket_of("b", &[path, config, other, keys[0], keys[1]]).unwrap();
        assert_eq!(key_id(&bucket), Some("k"));
    }
}
