//! Storage of Azure: `az://CONTAINER/PATH`, `abfss://CONTAINER@HOST/PATH`,
//! `az://HOST/CONTAINER/PATH`.

use std::sync::Arc;

use tonnage_engine::{Error, Result};

use super::access::{Signature, StorageAccess};
use super::azure_account::AzureAccount;
use super::bucket::Bucket;
use super::listing::{Listing, encode_key};
use super::shared_key::SharedKey;

/// What an address says.
struct AzureAddress<'a> {
    /// The name of the account, and its host if that is there.
    account: Option<(&'a str, Option<&'a str>)>,
    container: &'a str,
    key: &'a str,
}

/// Whether addresses of a scheme, in small letters, are of this kind.
pub(super) fn is_scheme(scheme: &str) -> bool {
    ["az", "azure", "abfs", "abfss"].contains(&scheme)
}

/// The container that an address begins with, and the key after it.
pub(super) fn locate<'a>(
    scheme: &str,
    rest: &'a str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Bucket, &'a str)> {
    let AzureAddress { account, container, key } = AzureAddress::of(rest);
    if container.is_empty() {
        return Err(Error::invalid(format!(
            "it names no container: write {scheme}://CONTAINER/PATH"
        )));
    }
    let own = AzureAccount::of_environment(variable)?;
    let is_others = match (&own.name, account) {
        (Some(own), Some((name, _))) => own != name,
        _ => false,
    };
    let of_address = account.map(|(name, host)| match host {
        // The protocol of files in folders has its own host; blobs are read at another.
        Some(host) => format!("https://{}", host.replacen(".dfs.", ".blob.", 1)),
        None => format!("https://{name}.blob.core.windows.net"),
    });
    let endpoint = match is_others {
        true => of_address,
        false => own.endpoint.clone().or(of_address),
    };
    let Some(endpoint) = endpoint else {
        return Err(Error::invalid(format!(
            "it names no account: set AZURE_STORAGE_ACCOUNT, or write {scheme}://{container}@ACCOUNT.blob.core.windows.net/{key}"
        )));
    };
    let name = account.map(|(name, _)| name.to_owned()).or_else(|| own.name.clone());
    let name = name.unwrap_or_default();
    let (key_of_account, token, remedy) = match is_others {
        // Credentials are sent only to their own account.
        true => (
            None,
            None,
            format!(
                "it was asked without credentials: those of the environment are for the account {}, not {name}",
                own.name.unwrap_or_default()
            ),
        ),
        false => (own.key, own.token, own.remedy.to_owned()),
    };
    let prefix = &rest[..rest.len() - key.len()];
    let bucket = Bucket {
        address: format!("{scheme}://{}", prefix.trim_end_matches('/')),
        url: format!("{}/{}", endpoint.trim_end_matches('/'), encode_key(container)),
        token,
        listing: Listing::Azure,
        access: Arc::new(StorageAccess {
            signature: Signature::Azure(SharedKey { account: name, key: key_of_account }),
            remedy,
        }),
    };
    Ok((bucket, key))
}

impl<'a> AzureAddress<'a> {
    fn of(rest: &'a str) -> Self {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let account = |host: &'a str| match host.split_once('.') {
            Some((name, _)) => (name, Some(host)),
            None => (host, None),
        };
        if let Some((container, host)) = authority.split_once('@') {
            return Self { account: Some(account(host)), container, key: path };
        }
        // No name of a container has a point.
        if authority.contains('.') {
            let (container, key) = path.split_once('/').unwrap_or((path, ""));
            return Self { account: Some(account(authority)), container, key };
        }
        Self { account: None, container: authority, key: path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket_of<'a>(address: &'a str, variables: &[(&str, &str)]) -> Result<(Bucket, &'a str)> {
        let (scheme, rest) = address.split_once("://").unwrap();
        locate(scheme, rest, &|wanted| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn has_key(bucket: &Bucket) -> bool {
        matches!(&bucket.access.signature, Signature::Azure(SharedKey { key: Some(_), .. }))
    }

    #[test]
    fn all_forms_of_an_address_lead_to_the_same_blob() {
        let account = [("AZURE_STORAGE_ACCOUNT", "acc")];
        for (address, variables) in [
            ("az://c/day/a b.csv", &account[..]),
            ("abfs://c/day/a b.csv", &account),
            ("az://c@acc/day/a b.csv", &[]),
            ("abfss://c@acc.dfs.core.windows.net/day/a b.csv", &[]),
            ("az://acc.blob.core.windows.net/c/day/a b.csv", &[]),
        ] {
            let (bucket, key) = bucket_of(address, variables).unwrap();
            let object = bucket.object(key);
            assert_eq!(object.name, address);
            assert_eq!(object.file.url, "https://acc.blob.core.windows.net/c/day/a%20b.csv");
            assert!(!has_key(&bucket));
        }
        let (bucket, _) = bucket_of("az://c@acc.dfs.core.chinacloudapi.cn/a", &[]).unwrap();
        assert_eq!(bucket.url, "https://acc.blob.core.chinacloudapi.cn/c");
    }

    #[test]
    fn an_address_without_account_or_container_says_what_is_missing() {
        let error = bucket_of("az://c/a.csv", &[]).err().unwrap();
        assert!(error.message().contains("set AZURE_STORAGE_ACCOUNT"), "{error}");
        for address in ["az:///a.csv", "az://acc.blob.core.windows.net/"] {
            let error = bucket_of(address, &[]).err().unwrap();
            assert!(error.message().contains("names no container"), "{error}");
        }
    }

    #[test]
    fn credentials_are_shown_to_their_account_alone() {
        let key = [("AZURE_STORAGE_ACCOUNT", "mine"), ("AZURE_STORAGE_KEY", "a2V5")];
        let token = [("AZURE_STORAGE_ACCOUNT", "mine"), ("AZURE_STORAGE_SAS_TOKEN", "?sig=x")];
        for address in ["az://c/a", "az://c@mine/a", "abfss://c@mine.dfs.core.windows.net/a"] {
            assert!(has_key(&bucket_of(address, &key).unwrap().0), "{address}");
            let (bucket, key) = bucket_of(address, &token).unwrap();
            assert!(bucket.object(key).file.url.ends_with("/c/a?sig=x"), "{address}");
        }
        let (bucket, _) = bucket_of("az://c@other/a", &key).unwrap();
        assert!(!has_key(&bucket) && bucket.access.remedy.contains("for the account mine"));
        assert!(bucket_of("az://c@other/a", &token).unwrap().0.token.is_none());
        // A key that names no account is for that of the address.
        assert!(has_key(&bucket_of("az://c@other/a", &key[1..]).unwrap().0));
    }

    #[test]
    fn emulators_are_found_by_their_connection_string() {
        let text = "AccountName=dev;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:10000/dev;";
        let (bucket, key) =
            bucket_of("az://c/a.csv", &[("AZURE_STORAGE_CONNECTION_STRING", text)]).unwrap();
        assert_eq!(bucket.object(key).file.url, "http://127.0.0.1:10000/dev/c/a.csv");
        assert!(has_key(&bucket));
    }
}
