package dev.tonnage.client;

/**
 * A bulk put that was stopped. Entries that the report counts as acknowledged are stored, exist or
 * failed. Of the others it is not known which are stored.
 */
public final class BulkPutException extends TonnageException {
    private static final long serialVersionUID = 1L;

    private final transient BulkPutReport report;

    BulkPutException(TonnageException cause, BulkPutReport report) {
        super(cause.kind(), cause.status(), cause.code(), cause.requestId(), cause.getMessage()
                + " (" + report.sent() + " entries were sent, " + report.acknowledged()
                + " of them are acknowledged; put the others again, stored ones are kept)", cause);
        this.report = report;
    }

    /** What is known of the entries. */
    public BulkPutReport report() {
        return report;
    }
}
