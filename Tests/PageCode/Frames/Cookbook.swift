// What only Apple's systems have. Elsewhere, declarations with the signatures that Apple documents stand in for it.
#if canImport(SwiftUI)
import SwiftUI
#else
@MainActor private protocol View {
    associatedtype Body
    var body: Body { get }
}

private struct ProgressView: View {
    init(value: Double?) {}
    var body: Never { fatalError("A stand-in is not shown.") }
}
#endif

#if canImport(UIKit) && !os(watchOS)
import UIKit
#else
@MainActor private class UIView {
    var frame = CGRect.zero
    var bounds: CGRect { frame }
    init(frame: CGRect) { self.frame = frame }
    convenience init() { self.init(frame: .zero) }
    required init?(coder: NSCoder) {}
    deinit {}
    func addSubview(_ view: UIView) {}
}

private final class UIImageView: UIView { var image: UIImage? }

private class UICollectionViewCell: UIView {
    let contentView = UIView()
    func prepareForReuse() {}
    deinit {}
}

nonisolated private final class UIImage: Sendable {
    init?(data: Data) {}
    func preparingForDisplay() -> UIImage? { self }
}
#endif

#if !canImport(Darwin)
nonisolated private final class NSItemProvider {
    func loadFileRepresentation(
        forTypeIdentifier: String, completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) {}
}

nonisolated extension URL {
    fileprivate func startAccessingSecurityScopedResource() -> Bool { true }
    fileprivate func stopAccessingSecurityScopedResource() {}
}
#endif
