import type { Route } from './route';
import type { Index } from './types';

/// What a view gets: the data's index and the view's address.
export type Context = { index: Index; route: Route };
export type View = (context: Context) => Node | Promise<Node>;
