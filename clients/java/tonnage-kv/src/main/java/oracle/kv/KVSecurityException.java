package oracle.kv;

/** A call that was refused for who made it. */
public class KVSecurityException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An error with these words. */
    public KVSecurityException(String msg) {
        super(msg);
    }

    /** An error with these words, and what caused it. */
    public KVSecurityException(String msg, Throwable cause) {
        super(msg, cause);
    }
}
