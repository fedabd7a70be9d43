@MainActor private let parcel = Parcel(provider: provider)
