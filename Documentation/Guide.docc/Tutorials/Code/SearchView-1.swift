#if canImport(SwiftUI)
import SwiftUI

struct SearchView: View {
    @State private var text = ""
    @State private var model = SearchModel(provider: GitHub.makeProvider())

    var body: some View {
        NavigationStack {
            List(model.repositories) { repository in
                Text("\(repository.owner.login)/\(repository.name)")
            }
            .searchable(text: $text)
            .onSubmit(of: .search) { model.search(for: text) }
        }
    }
}
#endif
