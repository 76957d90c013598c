package oracle.kv;

/** Connects to servers. */
public class KVStoreFactory {
    /** Nothing to make: the methods are static. */
    public KVStoreFactory() {
    }

    /**
     * Connects to the first server that answers.
     *
     * @throws FaultException when none does
     */
    public static KVStore getStore(KVStoreConfig config) {
        return getStore(config, null, null);
    }

    /** Connects as a user. The handler may be null, and is not called. */
    public static KVStore getStore(KVStoreConfig config, LoginCredentials creds,
            ReauthenticateHandler reauthHandler) {
        return StoreHandle.open(config, creds);
    }
}
