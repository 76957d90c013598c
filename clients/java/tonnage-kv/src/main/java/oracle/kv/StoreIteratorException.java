package oracle.kv;

/** An iteration that ended early. */
public class StoreIteratorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Key key;

    /** An iteration that ended early. */
    public StoreIteratorException(Throwable cause, Key key) {
        super(cause.getMessage(), cause);
        this.key = key;
    }

    /** The last key that was given; null where it is not known. */
    public Key getKey() {
        return key;
    }
}
