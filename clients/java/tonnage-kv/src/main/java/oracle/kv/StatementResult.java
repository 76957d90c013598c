package oracle.kv;

import oracle.kv.table.RecordValue;
import oracle.kv.table.TableIterator;

/** What became of a statement. */
public interface StatementResult extends Iterable<RecordValue> {
    /** What a statement was. */
    enum Kind {
        /** A definition. */
        DDL,
        /** A query. */
        QUERY
    }

    /** What became of it, as text. */
    String getInfo();

    /** What became of it, as JSON. */
    String getInfoAsJson();

    /** Null: a statement that fails throws. */
    String getErrorMessage();

    /** Whether it was carried out. */
    boolean isSuccessful();

    /** Whether it has ended. */
    boolean isDone();

    /** Whether it was called off. */
    boolean isCancelled();

    /** What a definition answers; null for others. */
    String getResult();

    /** What it was. */
    Kind getKind();

    /** The rows, once. A change has one row: the count, as NumRowsChanged. */
    @Override
    TableIterator<RecordValue> iterator();

    /** Ends the rows. */
    void close();
}
