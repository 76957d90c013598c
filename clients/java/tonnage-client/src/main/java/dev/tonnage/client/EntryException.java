package dev.tonnage.client;

/** Why an entry of a bulk put could not be stored. */
public final class EntryException extends TonnageException {
    private static final long serialVersionUID = 1L;

    private final String column;

    EntryException(String column, String reason) {
        super(Kind.INVALID_REQUEST, column == null ? reason : "column " + column + ": " + reason);
        this.column = column;
    }

    /** The column at fault; null where the whole entry is. */
    public String column() {
        return column;
    }
}
