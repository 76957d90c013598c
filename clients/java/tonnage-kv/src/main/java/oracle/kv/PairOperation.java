package oracle.kv;

import dev.tonnage.client.Condition;

/** A write of a pair. */
final class PairOperation implements Operation {
    private final Type type;
    private final Key key;
    private final Value value;
    private final Condition condition;
    private final ReturnValueVersion.Choice returns;
    private final boolean aborts;

    private PairOperation(Type type, Key key, Value value, Condition condition,
            ReturnValueVersion.Choice returns, boolean aborts) {
        this.type = type;
        this.key = key;
        this.value = value;
        this.condition = condition;
        this.returns = returns == null ? ReturnValueVersion.Choice.NONE : returns;
        this.aborts = aborts;
    }

    @Override
    public Key getKey() {
        return key;
    }

    @Override
    public Type getType() {
        return type;
    }

    @Override
    public boolean getAbortIfUnsuccessful() {
        return aborts;
    }

    Value value() {
        return value;
    }

    Condition condition() {
        return condition;
    }

    ReturnValueVersion.Choice returns() {
        return returns;
    }

    /** What became of one. */
    static final class Result implements OperationResult {
        private final Overwrite<?> written;
        private final ReturnValueVersion before;
        private final boolean isPut;

        Result(Overwrite<?> written, ReturnValueVersion before, PairOperation operation) {
            this.written = written;
            this.before = before;
            this.isPut = operation.value != null;
        }

        @Override
        public boolean getSuccess() {
            return written.isStored();
        }

        @Override
        public Version getNewVersion() {
            return isPut ? written.written() : null;
        }

        @Override
        public Version getPreviousVersion() {
            return before.getVersion();
        }

        @Override
        public Value getPreviousValue() {
            return before.getValue();
        }
    }

    /** Makes them. */
    static final class Factory implements OperationFactory {
        @Override
        public Operation createPut(Key key, Value value) {
            return createPut(key, value, null, false);
        }

        @Override
        public Operation createPut(Key key, Value value,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.PUT, key, value, Condition.ALWAYS, prevReturn,
                    abortIfUnsuccessful);
        }

        @Override
        public Operation createPutIfAbsent(Key key, Value value) {
            return createPutIfAbsent(key, value, null, false);
        }

        @Override
        public Operation createPutIfAbsent(Key key, Value value,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.PUT_IF_ABSENT, key, value, Condition.IF_ABSENT,
                    prevReturn, abortIfUnsuccessful);
        }

        @Override
        public Operation createPutIfPresent(Key key, Value value) {
            return createPutIfPresent(key, value, null, false);
        }

        @Override
        public Operation createPutIfPresent(Key key, Value value,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.PUT_IF_PRESENT, key, value, Condition.IF_PRESENT,
                    prevReturn, abortIfUnsuccessful);
        }

        @Override
        public Operation createPutIfVersion(Key key, Value value, Version version) {
            return createPutIfVersion(key, value, version, null, false);
        }

        @Override
        public Operation createPutIfVersion(Key key, Value value, Version version,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.PUT_IF_VERSION, key, value,
                    Condition.ifVersion(version.getVersion()), prevReturn,
                    abortIfUnsuccessful);
        }

        @Override
        public Operation createDelete(Key key) {
            return createDelete(key, null, false);
        }

        @Override
        public Operation createDelete(Key key,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.DELETE, key, null, Condition.IF_PRESENT, prevReturn,
                    abortIfUnsuccessful);
        }

        @Override
        public Operation createDeleteIfVersion(Key key, Version version) {
            return createDeleteIfVersion(key, version, null, false);
        }

        @Override
        public Operation createDeleteIfVersion(Key key, Version version,
                ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful) {
            return new PairOperation(Type.DELETE_IF_VERSION, key, null,
                    Condition.ifVersion(version.getVersion()), prevReturn,
                    abortIfUnsuccessful);
        }
    }
}
