//! The Azure account that the environment names, with its credentials.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tonnage_engine::{Error, Result};

const CONNECTION: &str = "AZURE_STORAGE_CONNECTION_STRING";
/// What emulators of Azure on this machine are: the same everywhere, and no secret.
const EMULATOR: &str = "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1";
const NO_CREDENTIALS: &str = "it was asked without credentials: set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING";

/// An account, with its credentials.
pub(super) struct AzureAccount {
    pub(super) name: Option<String>,
    /// Where its blobs are, without a slash at its end.
    pub(super) endpoint: Option<String>,
    pub(super) key: Option<Vec<u8>>,
    /// The query of a URL.
    pub(super) token: Option<String>,
    /// What to do if the account refuses.
    pub(super) remedy: &'static str,
}

impl AzureAccount {
    /// The account that variables of the environment describe: `AZURE_STORAGE_CONNECTION_STRING`, or
    /// others one by one.
    pub(super) fn of_environment(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        if let Some(text) = variable(CONNECTION) {
            return Self::of_connection(&text);
        }
        let name =
            variable("AZURE_STORAGE_ACCOUNT").or_else(|| variable("AZURE_STORAGE_ACCOUNT_NAME"));
        let key = variable("AZURE_STORAGE_KEY").or_else(|| variable("AZURE_STORAGE_ACCOUNT_KEY"));
        let endpoint = name.as_ref().map(|name| format!("https://{name}.blob.core.windows.net"));
        let token = variable("AZURE_STORAGE_SAS_TOKEN");
        Self::of(name, endpoint, key.map(|key| ("AZURE_STORAGE_KEY", key)), token)
    }

    /// The account of a connection string: `AccountName=...;AccountKey=...`.
    fn of_connection(text: &str) -> Result<Self> {
        let value = |wanted: &str| {
            let mut pairs = text.split(';').filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        if value("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Self::of_connection(EMULATOR);
        }
        let name = value("AccountName");
        let by_name = |name: &String| {
            let protocol = value("DefaultEndpointsProtocol").unwrap_or_else(|| "https".into());
            let suffix = value("EndpointSuffix").unwrap_or_else(|| "core.windows.net".into());
            format!("{protocol}://{name}.blob.{suffix}")
        };
        let endpoint = value("BlobEndpoint").or_else(|| name.as_ref().map(by_name));
        if endpoint.is_none() {
            return Err(Error::invalid(format!(
                "{CONNECTION} names no account: it needs AccountName or BlobEndpoint"
            )));
        }
        let key = value("AccountKey").map(|key| ("the AccountKey of the connection string", key));
        Self::of(name, endpoint, key, value("SharedAccessSignature"))
    }

    fn of(
        name: Option<String>,
        endpoint: Option<String>,
        key: Option<(&str, String)>,
        token: Option<String>,
    ) -> Result<Self> {
        let key = key.map(|(what, key)| {
            STANDARD.decode(key.trim()).map_err(|error| {
                Error::invalid(format!("{what} is not base64: {error}")).with_source(error)
            })
        });
        let key = key.transpose()?;
        // With the key no token is needed.
        let token = token.filter(|_| key.is_none());
        let token = token.map(|token| token.trim().trim_start_matches('?').to_owned());
        let remedy = match (&key, &token) {
            (Some(_), _) => "the key is not that of the account, or the clock is wrong",
            (None, Some(_)) => "the SAS token has expired, or does not allow to read and list",
            (None, None) => NO_CREDENTIALS,
        };
        let endpoint = endpoint.map(|endpoint| endpoint.trim_end_matches('/').to_owned());
        Ok(Self { name, endpoint, key, token, remedy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(text: &str) -> Result<AzureAccount> {
        AzureAccount::of_environment(&|name| (name == CONNECTION).then(|| text.to_owned()))
    }

    #[test]
    fn connection_strings_are_read() {
        let account = connection(
            "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5==;EndpointSuffix=core.usgovcloudapi.net",
        );
        // Padding is part of base64, and too much of it is an error.
        assert!(account.err().unwrap().message().contains("AccountKey"));
        let account = connection("DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5MQ==;EndpointSuffix=core.usgovcloudapi.net").unwrap();
        assert_eq!(account.endpoint.unwrap(), "https://acc.blob.core.usgovcloudapi.net");
        assert_eq!((account.name.unwrap(), account.key.unwrap()), ("acc".into(), b"key1".to_vec()));
        let account =
            connection("blobendpoint=https://h/;SharedAccessSignature=?sv=1&sig=a%3D").unwrap();
        assert_eq!(account.endpoint.unwrap(), "https://h");
        assert_eq!(account.token.unwrap(), "sv=1&sig=a%3D");
        let account = connection("UseDevelopmentStorage=true").unwrap();
        assert_eq!(account.endpoint.unwrap(), "http://127.0.0.1:10000/devstoreaccount1");
        assert_eq!(account.key.unwrap().len(), 64);
        let error = connection("AccountKey=a2V5").err().unwrap();
        assert!(error.message().contains("names no account"), "{error}");
    }
}
