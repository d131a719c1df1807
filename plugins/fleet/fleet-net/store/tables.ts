/** The tables of the net, oldest step first. A step that was released never changes. Positions and offsets are ECEF, metres. */
export const tables = [
  `create table fleet_net_pair (
     one text not null,
     other text not null,
     tried timestamptz,
     status text not null default '',
     reason text not null default '',
     primary key (one, other));
   create index fleet_net_pair_other on fleet_net_pair (other);
   create table fleet_net_vector (
     id bigint generated always as identity primary key,
     t timestamptz not null,
     one text not null,
     other text not null,
     status text not null,
     measured float8[] not null,
     covariance float8[] not null,
     height_doubt float8 not null default 0,
     one_ranges float8[],
     other_ranges float8[],
     one_arp float8[] not null,
     other_arp float8[] not null,
     epochs int not null,
     satellites int not null);
   create index fleet_net_vector_t on fleet_net_vector (t);
   create index fleet_net_vector_one on fleet_net_vector (one, t);
   create index fleet_net_vector_other on fleet_net_vector (other, t);
   create table fleet_net_day (
     day date not null,
     one text not null,
     other text not null,
     measured float8[] not null,
     sigma float8[] not null,
     one_arp float8[] not null,
     other_arp float8[] not null,
     windows int not null,
     primary key (one, other, day));
   create index fleet_net_day_other on fleet_net_day (other, day);
   create index fleet_net_day_day on fleet_net_day (day);
   create table fleet_net_base (
     serial text primary key,
     state text not null,
     reason text not null,
     east_m float8 not null,
     north_m float8 not null,
     up_m float8 not null,
     sigma float8[] not null,
     vectors int not null,
     neighbours text[] not null,
     since timestamptz not null,
     judged timestamptz not null,
     cause jsonb not null,
     doubted_at timestamptz,
     window_begun timestamptz,
     arp float8[] not null);
   create table fleet_net_acceptance (
     id bigint generated always as identity primary key,
     serial text not null,
     begun timestamptz not null,
     until timestamptz not null,
     ended timestamptz,
     actor text not null,
     arp float8[] not null,
     version text not null,
     outcome text not null default 'running',
     reason text not null default '',
     evidence jsonb);
   create unique index fleet_net_acceptance_running on fleet_net_acceptance (serial) where outcome = 'running';
   create index fleet_net_acceptance_serial on fleet_net_acceptance (serial, id desc)`,
]
