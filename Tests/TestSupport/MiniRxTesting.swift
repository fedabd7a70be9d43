// Most of our tests use virtual time.
@_exported public import MiniRxTesting
