package oracle.kv;

/** A call whose time was over. */
public class RequestTimeoutException extends FaultException {
    private static final long serialVersionUID = 1L;

    private final int timeoutMs;

    /** A call whose time was over. */
    public RequestTimeoutException(int timeoutMs, String msg, Exception cause, boolean isRemote) {
        super(msg, cause, isRemote);
        this.timeoutMs = timeoutMs;
    }

    /** The time that it had; 0 where it is not known. */
    public int getTimeoutMs() {
        return timeoutMs;
    }
}
