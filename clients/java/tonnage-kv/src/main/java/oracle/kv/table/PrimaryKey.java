package oracle.kv.table;

/** The key columns of a row, or the first of them. */
public interface PrimaryKey extends Row {
    @Override
    PrimaryKey clone();
}
