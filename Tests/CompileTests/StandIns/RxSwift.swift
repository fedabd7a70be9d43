// Stands in for RxSwift 6, with the declarations that it documents.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public enum SingleTrait {}
public typealias Single<Element> = PrimitiveSequence<SingleTrait, Element>

public struct PrimitiveSequence<Trait, Element> {
    public static func just(_ element: Element) -> Self { Self() }
    public func map<Result>(_ transform: @escaping (Element) throws -> Result) -> PrimitiveSequence<Trait, Result> { .init() }
    public func disposed(by bag: DisposeBag) {}
}

public final class DisposeBag {
    public init() {}
}
