package oracle.kv;

/** Logs in again. */
public interface ReauthenticateHandler {
    /** Logs in again. It is never called: each call says who makes it. */
    void reauthenticate(KVStore kvstore);
}
