package oracle.kv;

/** What kept a call from being carried out. The cause says more. */
public class FaultException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isRemote;

    /** An error with these words. */
    public FaultException(String msg, boolean isRemote) {
        super(msg);
        this.isRemote = isRemote;
    }

    /** An error that another one caused. */
    public FaultException(Throwable cause, boolean isRemote) {
        super(cause.getMessage(), cause);
        this.isRemote = isRemote;
    }

    /** An error with these words, and what caused it. */
    public FaultException(String msg, Throwable cause, boolean isRemote) {
        super(msg, cause);
        this.isRemote = isRemote;
    }

    /** Whether the server told it. */
    public boolean wasLoggedRemotely() {
        return isRemote;
    }

    /** The class of what caused it. */
    public String getFaultClassName() {
        return getCause() == null ? null : getCause().getClass().getName();
    }
}
